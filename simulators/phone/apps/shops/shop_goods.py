"""Products of the two shops, all names invented. Many are in both, at different prices.

A row is (name, category, picture, rating, reviews, about, variants, offer at Marrowby, offer at Quillbarn). An offer is
(price, stock, days until dispatch), or None if the shop does not have the product. `goods` returns a shop's products.
"""

from __future__ import annotations

from random import Random
from typing import Any

Offer = tuple[float, int, int] | None
Ware = tuple[str, str, str, float, int, str, tuple[str, ...], Offer, Offer]

CATEGORIES: tuple[tuple[str, str], ...] = (
    ("Groceries", "fruit"), ("Kitchen", "kettle"), ("Home", "lamp"), ("Clothing", "scarf"), ("Electronics", "radio"),
    ("Sewing", "spool"), ("Books", "book"), ("茶和零食", "box"),
)  # fmt: skip

VARIANTS: dict[str, tuple[str, tuple[tuple[str, float], ...]]] = {
    "warm": ("Colour", (("Red", 0.0), ("Ochre", 0.0), ("Cream", 0.0))),
    "cool": ("Colour", (("Blue", 0.0), ("Grey", 0.0), ("Green", 0.0), ("Red", 0.0))),
    "plain": ("Colour", (("Black", 0.0), ("White", 0.0), ("Blue", 0.0))),
    "thread": ("Colour", (("White", 0.0), ("Black", 0.0), ("Red", 0.0), ("Navy", 0.0))),
    "size": ("Size", (("Small", 0.0), ("Medium", 0.0), ("Large", 2.0))),
    "bed": ("Size", (("Single", 0.0), ("Double", 9.0))),
    "litres": ("Size", (("1 litre", 0.0), ("2 litres", 1.6))),
    "eggs": ("Pack", (("Six", 0.0), ("Twelve", 2.4))),
    "rice": ("Pack", (("1 kg", 0.0), ("2 kg", 2.8), ("5 kg", 9.5))),
    "shoe": ("Size", (("37", 0.0), ("38", 0.0), ("39", 0.0), ("41", 0.0), ("43", 0.0))),
    "tea": ("规格", (("100克", 0.0), ("250克", 9.0))),
}
"""Groups of variants by a short name: the group's title, and its choices with their surcharges."""

WARES: tuple[Ware, ...] = (
    ("Whole milk", "Groceries", "carton", 4.6, 412,
     "From two valleys, not skimmed", ("litres",), (1.9, 60, 0), (2.1, 40, 1)),
    ("Brown eggs", "Groceries", "eggs", 4.7, 388, "Free range, graded large", ("eggs",), (3.1, 34, 0), (2.9, 30, 1)),
    ("Seeded rye loaf", "Groceries", "sack", 4.5, 156, "Sliced, keeps five days", (), (4.2, 18, 0), None),
    ("Long grain rice", "Groceries", "sack", 4.4, 240,
     "Light and dry when cooked", ("rice",), (3.6, 50, 0), (3.2, 80, 1)),
    ("Sweet oranges", "Groceries", "fruit", 4.3, 97, "A net of eight", (), (4.8, 25, 0), None),
    ("Blossom honey", "Groceries", "jar", 4.8, 203, "Set, in a glass", (), (7.4, 20, 0), (6.9, 15, 1)),
    ("Plum tomatoes", "Groceries", "jar", 4.2, 131, "Peeled, three tins", (), (3.9, 44, 0), (3.4, 60, 1)),
    ("Olive oil", "Groceries", "bottle", 4.6, 322, "First pressing, half a litre", (), (11.5, 22, 0), (10.8, 25, 1)),
    ("Ground coffee", "Groceries", "sack", 4.5, 278, "Dark roast, 250 g", (), (6.8, 30, 0), (5.9, 48, 1)),
    ("Malt biscuits", "Groceries", "box", 4.1, 84, "Not too sweet", (), (2.6, 40, 0), None),
    ("Arc kettle", "Kitchen", "kettle", 4.6, 518,
     "1.5 litres, switches itself off", ("plain",), (39.9, 12, 1), (36.5, 9, 2)),
    ("Copper kettle", "Kitchen", "kettle", 4.8, 64, "For the stove, with a whistle", (), (74.0, 4, 2), None),
    ("Stoneware mug", "Kitchen", "mug", 4.5, 342, "Glazed by hand, 350 ml", ("cool",), (12.5, 40, 1), (11.0, 26, 2)),
    ("Iron skillet", "Kitchen", "pan", 4.7, 411, "26 cm, needs no coating", (), (32.0, 10, 1), (28.5, 14, 2)),
    ("Crumb whisk", "Kitchen", "pan", 3.6, 22, "Sweeps a table in one go", (), None, (7.9, 50, 1)),
    ("Preserving jars", "Kitchen", "jar", 4.4, 119, "Six, with lids", ("size",), (16.0, 16, 1), (13.9, 20, 3)),
    ("Reading lamp", "Home", "lamp", 4.6, 287,
     "Warm light, bends where it should", ("plain",), (44.0, 8, 1), (38.9, 11, 2)),
    ("Bedside lamp", "Home", "lamp", 4.2, 73, "Linen shade, oak foot", ("warm",), None, (29.9, 7, 2)),
    ("Wool blanket", "Home", "cloth", 4.7, 198,
     "Lambswool, 140 by 200 cm", ("cool", "bed"), (58.0, 9, 2), (54.5, 6, 3)),
    ("Beeswax candle", "Home", "candle", 4.5, 61, "Burns for thirty hours", (), (9.5, 30, 1), (8.2, 34, 1)),
    ("Linen towel", "Home", "cloth", 4.4, 140, "Dries fast, softens with age", ("warm",), (14.0, 22, 1), (15.5, 20, 2)),
    ("Folding stool", "Home", "box", 3.9, 38, "Beech, carries 110 kg", (), None, (24.0, 5, 3)),
    ("Merino scarf", "Clothing", "scarf", 4.6, 231, "Fine wool, two metres", ("warm",), (34.0, 14, 1), (31.5, 12, 2)),
    ("Cotton scarf", "Clothing", "scarf", 4.1, 88, "Light, for spring", ("cool",), (18.0, 25, 1), (16.5, 21, 2)),
    ("Harbour scarf", "Clothing", "scarf", 3.8, 41, "Thick, a little rough", ("cool",), (21.0, 9, 1), None),
    ("Storm umbrella", "Clothing", "umbrella", 4.5, 176,
     "Turns inside out and back", ("plain",), (27.0, 15, 1), (24.5, 18, 2)),
    ("Canvas tote", "Clothing", "bag", 4.3, 92, "Carries a week of books", ("cool",), (15.0, 30, 1), (13.5, 28, 2)),
    ("Felt slippers", "Clothing", "shoes", 4.6, 164,
     "Warm, with a sole that grips", ("shoe",), (29.0, 11, 1), (26.0, 16, 2)),
    ("Garden clogs", "Clothing", "shoes", 4.0, 57, "Rinse under the tap", ("shoe",), None, (19.5, 9, 2)),
    ("Quiet headphones", "Electronics", "headphones", 4.4, 903,
     "Thirty hours, folds flat", ("plain",), (89.0, 7, 1), (79.0, 5, 2)),
    ("Kitchen radio", "Electronics", "radio", 4.5, 215,
     "Three stations a button", ("warm",), (49.0, 6, 2), (45.5, 8, 2)),
    ("Travel charger", "Electronics", "box", 4.3, 310, "Two ports, folding pins", (), (22.0, 20, 1), (18.9, 33, 1)),
    ("Large-key phone", "Electronics", "radio", 4.2, 126, "Big keys, loud bell", (), None, (42.0, 4, 2)),
    ("Strong thread", "Sewing", "spool", 4.8, 146, "500 m, does not fray", ("thread",), (4.5, 60, 1), (3.9, 70, 2)),
    ("Tailor's shears", "Sewing", "scissors", 4.9, 83, "24 cm, can be sharpened", (), (46.0, 5, 2), (41.0, 3, 3)),
    ("Tracing chalk", "Sewing", "box", 4.4, 39, "Four colours, brushes out", (), (5.2, 26, 1), (4.6, 40, 2)),
    ("Soft yarn", "Sewing", "yarn", 4.6, 171, "Merino, 50 g", ("warm",), (6.9, 48, 1), (6.2, 52, 2)),
    ("Atlas of Knots", "Books", "book", 4.7, 54, "Two hundred, drawn by hand", (), (24.0, 9, 1), (22.5, 7, 2)),
    ("The Slow Garden", "Books", "book", 4.5, 112, "A year on one balcony", (), (19.0, 14, 1), None),
    ("Letters from a Lighthouse", "Books", "book", 4.3, 76, "A novel in post", (), None, (14.9, 12, 2)),
    ("高山乌龙茶", "茶和零食", "box", 4.8, 264, "清香，冬茶", ("tea",), (18.0, 16, 1), (16.8, 12, 2)),
    ("茉莉花茶", "茶和零食", "box", 4.5, 187, "七窨，香气足", ("tea",), (12.0, 24, 1), (12.6, 20, 2)),
    ("核桃酥", "茶和零食", "box", 4.6, 142, "酥脆，不太甜", (), (8.8, 18, 0), (7.9, 22, 1)),
    ("山楂片", "茶和零食", "jar", 4.2, 65, "酸甜，无添加", (), None, (4.5, 30, 1)),
)  # fmt: skip


def goods(rng: Random, shop: int) -> list[dict[str, Any]]:
    """Return a shop's products (0 Marrowby, 1 Quillbarn), shuffled by the seed."""
    out = []
    for name, category, picture, rating, reviews, about, variants, *offers in WARES:
        offer = offers[shop]
        if offer is None:
            continue
        price, stock, days = offer
        product = {"name": name, "category": category, "picture": picture, "rating": rating, "reviews": reviews}
        product |= {"about": about, "price": price, "stock": stock, "days": days}
        out.append(product | {"variants": [_group(key) for key in variants]})
    rng.shuffle(out)
    return out


def _group(key: str) -> dict[str, Any]:
    name, choices = VARIANTS[key]
    return {"name": name, "choices": [{"name": choice, "surcharge": more} for choice, more in choices]}
