"""Restaurants of the food app and their dishes, all names invented.

A dish is (name, kind of picture, price, about, option groups, extras). `catalogue` turns them into the app's state.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Any

Dish = tuple[str, str, float, str, tuple[str, ...], tuple[str, ...]]
Restaurant = tuple[str, str, str, float, int, float, tuple[tuple[str, tuple[Dish, ...]], ...]]
"""Name, category, picture, rating, minutes, fee, and sections of dishes."""

OPTIONS: dict[str, list[list[Any]]] = {
    "Size": [["Regular", 0.0], ["Large", 2.5]],
    "Cup": [["Small", 0.0], ["Medium", 0.8], ["Large", 1.5]],
    "Spice": [["Mild", 0.0], ["Medium", 0.0], ["Hot", 0.0]],
    "Sugar": [["No sugar", 0.0], ["Half sugar", 0.0], ["Full sugar", 0.0]],
    "Ice": [["No ice", 0.0], ["Less ice", 0.0], ["Normal ice", 0.0]],
    "Milk": [["Whole milk", 0.0], ["Oat milk", 0.9], ["Soy milk", 0.7], ["No milk", 0.0]],
    "Base": [["White rice", 0.0], ["Brown rice", 0.5], ["Greens", 1.0]],
    "辣度": [["不辣", 0.0], ["微辣", 0.0], ["中辣", 0.0], ["特辣", 0.0]],
    "份量": [["小份", 0.0], ["大份", 4.0]],
}
EXTRAS: dict[str, float] = {
    "Soft egg": 1.5, "Extra tofu": 2.0, "Avocado": 2.5, "Extra cheese": 1.8, "Crispy shallots": 0.8, "Pickles": 1.0,
    "Tapioca pearls": 0.9, "Extra shot": 1.2, "Vanilla cream": 1.0, "加蛋": 1.5, "加香菜": 0.0, "米饭": 1.0,
}  # fmt: skip
CATEGORIES: tuple[tuple[str, str], ...] = (
    ("Noodles", "noodles"), ("Rice", "rice"), ("中餐", "dumplings"), ("Coffee", "coffee"), ("Tea", "drink"),
    ("Salads", "salad"), ("Flatbreads", "flat"), ("Sandwiches", "bread"), ("Sweets", "cake"),
)  # fmt: skip

_COFFEE = ("Cup", "Milk", "Sugar")
_TEA = ("Cup", "Sugar", "Ice")
_HOT = ("Size", "Spice")
_ZH = ("份量", "辣度")
_MILKY = ("Cup", "Sugar", "Ice", "Milk")
_BOWL = ("Base", "Size")
_EGG_TOFU = ("Soft egg", "Extra tofu")
_EGG_PICKLES = ("Soft egg", "Pickles")
_EGG_SHALLOTS = ("Soft egg", "Crispy shallots")
_CHEESE = ("Extra cheese", "Pickles")
_PEARLS = ("Tapioca pearls",)

_RESTAURANTS: tuple[Restaurant, ...] = (
    ("Copper Ladle", "Noodles", "noodles", 4.8, 30, 2.9, (
        ("Noodle bowls", (
            ("Smoked broth noodles", "noodles", 12.5, "Slow broth, spring onion, a soft egg", _HOT, _EGG_TOFU),
            ("Sesame dan noodles", "noodles", 11.0, "Sesame, crushed peanuts, chilli oil", _HOT, _EGG_PICKLES),
            ("Ginger chicken noodles", "noodles", 13.0, "Poached chicken, ginger, greens", _HOT, ("Soft egg",)),
            ("Forest mushroom noodles", "noodles", 12.0, "Four mushrooms, miso butter", _HOT, ("Extra tofu",)),
            ("Cold lime noodles", "noodles", 10.5, "Rice noodles, lime, cucumber, mint", _HOT, ("Crispy shallots",)),
        )),
        ("Small plates", (
            ("Charred greens", "plate", 6.0, "With garlic and black vinegar", (), ()),
            ("Lotus crisps", "plate", 5.0, "Thin, salty, gone too soon", (), ()),
            ("Pan-fried parcels", "dumplings", 7.5, "Six parcels, cabbage and tofu", ("Spice",), ("Pickles",)),
        )),
        ("Drinks", (
            ("Barley lemon cooler", "drink", 4.0, "Barley, lemon, a little honey", ("Sugar", "Ice"), ()),
            ("Toasted rice tea", "tea", 3.5, "Hot, nutty, no caffeine", ("Sugar",), ()),
        )),
    )),
    ("竹影小馆", "中餐", "dumplings", 4.9, 35, 3.5, (
        ("招牌菜", (
            ("竹影红烧豆腐", "plate", 13.8, "嫩豆腐，香菇，秘制酱汁", _ZH, ("米饭", "加香菜")),
            ("山泉酸汤鱼片", "soup", 22.8, "鲜鱼片，酸菜，青花椒", _ZH, ("米饭", "加香菜")),
            ("石板小炒牛肉", "plate", 19.8, "牛肉，青椒，洋葱", _ZH, ("米饭",)),
            ("荷塘清炒时蔬", "salad", 11.8, "莲藕，荷兰豆，木耳", ("份量",), ("米饭",)),
        )),
        ("面点", (
            ("老巷牛肉面", "noodles", 12.8, "手擀面，慢炖牛腱", _ZH, ("加蛋", "加香菜")),
            ("葱油拌面", "noodles", 8.8, "小葱，酱油，一点糖", ("份量",), ("加蛋",)),
            ("鲜虾云吞", "soup", 10.8, "十只，清汤", ("份量",), ("加香菜",)),
            ("三鲜蒸饺", "dumplings", 9.8, "八只，虾仁，韭菜，鸡蛋", (), ()),
        )),
        ("饮品", (
            ("桂花乌龙茶", "tea", 4.8, "热饮，微甜", ("Sugar",), ()),
            ("冰镇酸梅汤", "drink", 4.5, "乌梅，山楂，甘草", ("Sugar", "Ice"), ()),
        )),
    )),
    ("Little Crane Coffee", "Coffee", "coffee", 4.7, 20, 1.9, (
        ("Coffee", (
            ("Crane flat white", "coffee", 5.2, "Double shot, silky milk", _COFFEE, ("Extra shot",)),
            ("Long black", "coffee", 4.5, "Two shots over hot water", ("Cup", "Sugar"), ("Extra shot",)),
            ("Cinnamon latte", "coffee", 5.8, "Cinnamon bark, steamed milk", _COFFEE, ("Extra shot", "Vanilla cream")),
            ("Slow drip", "coffee", 6.0, "One cup, four minutes, a single farm", ("Cup", "Sugar"), ()),
            ("Iced orange espresso", "drink", 6.2, "Espresso over orange and ice", ("Cup", "Ice"), ("Extra shot",)),
        )),
        ("Bakery", (
            ("Almond half-moon", "bread", 4.2, "Flaky, with almond cream", (), ()),
            ("Carrot and walnut loaf", "cake", 4.8, "A thick slice, warm on request", (), ("Vanilla cream",)),
            ("Seeded roll with cheese", "bread", 5.5, "Rye roll, mountain cheese, butter", (), _CHEESE),
        )),
    )),
    ("Pearl & Leaf", "Tea", "drink", 4.6, 25, 1.5, (
        ("Milk teas", (
            ("Amber milk tea", "drink", 5.0, "Black tea, fresh milk, caramel", _MILKY, _PEARLS),
            ("Roasted oolong latte", "drink", 5.4, "Roasted oolong, creamy", _MILKY, _PEARLS),
            ("Jade cloud", "drink", 5.6, "Green tea under salted cream", _TEA, ("Tapioca pearls", "Vanilla cream")),
        )),
        ("Fruit teas", (
            ("Pomelo green tea", "drink", 5.2, "Pomelo, jasmine, basil seed", _TEA, _PEARLS),
            ("Peach and rooibos", "drink", 5.0, "White peach, red bush, no caffeine", _TEA, ()),
            ("Starfruit fizz", "drink", 5.8, "Sparkling, sharp, bright", _TEA, ()),
        )),
    )),
    ("Greenhouse No. 9", "Salads", "salad", 4.5, 25, 2.5, (
        ("Bowls", (
            ("Sunday garden bowl", "salad", 13.5, "Beans, beets, herbs, toasted seeds", _BOWL, ("Avocado", "Soft egg")),
            ("Charcoal aubergine bowl", "salad", 14.0, "Smoky aubergine, mint, yoghurt", _BOWL, ("Avocado",)),
            ("Citrus salmon bowl", "rice", 17.5, "Cured salmon, orange, dill", _BOWL, ("Avocado", "Pickles")),
            ("Crunchy peanut tofu bowl", "salad", 13.0, "Baked tofu, cabbage, peanut", _BOWL, ("Extra tofu",)),
        )),
        ("Soups", (
            ("Roasted carrot soup", "soup", 8.5, "Carrot, cumin, coconut", ("Size",), ()),
            ("White bean soup", "soup", 8.0, "Beans, rosemary, olive oil", ("Size",), ()),
        )),
    )),
    ("Ember & Dough", "Flatbreads", "flat", 4.4, 40, 3.9, (
        ("From the stone", (
            ("Tomato and basil round", "flat", 14.0, "Tomato, basil, soft cheese", ("Size",), _CHEESE),
            ("Four-root flatbread", "flat", 15.5, "Roast roots, thyme, goat cheese", ("Size",), ("Extra cheese",)),
            ("Ember pepper round", "flat", 16.0, "Charred peppers, chilli honey", ("Size", "Spice"), ("Extra cheese",)),
            ("Mushroom and onion round", "flat", 15.0, "Brown butter, slow onions", ("Size",), ("Extra cheese",)),
        )),
        ("Sweet end", (
            ("Burnt honey slice", "cake", 6.5, "Honey cake with a dark edge", (), ("Vanilla cream",)),
            ("Berry crumble pot", "cake", 6.0, "Warm berries under oats", (), ("Vanilla cream",)),
        )),
    )),
    ("Rice Almanac", "Rice", "rice", 4.6, 30, 2.2, (
        ("Rice sets", (
            ("Coconut chicken rice", "rice", 11.5, "Chicken thigh, coconut rice, sambal", _HOT, _EGG_SHALLOTS),
            ("Turmeric fish rice", "rice", 13.5, "Grilled fish, turmeric, lime leaf", _HOT, ("Crispy shallots",)),
            ("Sweet soy tofu rice", "rice", 10.0, "Fried tofu, long beans, sweet soy", _HOT, _EGG_TOFU),
            ("Black pepper beef rice", "rice", 14.5, "Beef, black pepper, onion", _HOT, ("Soft egg",)),
        )),
        ("On sticks", (
            ("Peanut skewers", "skewers", 9.0, "Six sticks, peanut sauce", ("Spice",), ("Pickles",)),
            ("Lemongrass mushrooms", "skewers", 8.0, "Six sticks, lemongrass", ("Spice",), ()),
        )),
    )),
    ("The Folded Napkin", "Sandwiches", "bread", 4.3, 25, 1.9, (
        ("Sandwiches", (
            ("Harbour club", "bread", 11.0, "Chicken, egg, tomato, crisp leaves", (), ("Avocado", "Extra cheese")),
            ("Roast pepper stack", "bread", 10.0, "Peppers, white cheese, olive paste", (), ("Avocado", "Pickles")),
            ("Warm mushroom melt", "bread", 10.5, "Mushrooms, thyme, melting cheese", (), ("Extra cheese",)),
        )),
        ("Sweets", (
            ("Lemon drizzle square", "cake", 4.5, "Sharp and soft", (), ("Vanilla cream",)),
            ("Dark chocolate tart", "cake", 5.5, "Bitter, smooth, small", (), ("Vanilla cream",)),
        )),
    )),
)  # fmt: skip


def catalogue(rng: Random, restaurants: Sequence[Restaurant] = _RESTAURANTS) -> list[dict[str, Any]]:
    """Return the restaurants and the dishes of each section, shuffled by the seed."""
    out = []
    for name, category, picture, rating, minutes, fee, sections in restaurants:
        shuffled = []
        for title, dishes in sections:
            rows = [_dish(*dish) for dish in dishes]
            rng.shuffle(rows)
            shuffled.append({"name": title, "dishes": rows})
        place = {"name": name, "category": category, "picture": picture, "rating": rating, "minutes": minutes}
        out.append(place | {"fee": fee, "sections": shuffled})
    rng.shuffle(out)
    return out


def _dish(
    name: str, picture: str, price: float, about: str, options: tuple[str, ...], extras: tuple[str, ...]
) -> dict[str, Any]:
    words = {"name": name, "picture": picture, "price": price, "about": about}
    return words | {"options": list(options), "extras": list(extras)}
