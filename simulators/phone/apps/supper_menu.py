"""The kitchens of Suppertide and what they cook: partly the dishes of Noshwell, at other prices; all invented."""

from __future__ import annotations

from typing import Any

from simulators.phone.apps.food_menu import Restaurant

OPTIONS: dict[str, list[list[Any]]] = {
    "Size": [["Regular", 0.0], ["Large", 3.0], ["Family", 9.0]],
    "Cup": [["Small", 0.0], ["Medium", 1.0], ["Large", 1.8]],
    "Spice": [["Mild", 0.0], ["Medium", 0.0], ["Hot", 0.0]],
    "Sugar": [["No sugar", 0.0], ["Half sugar", 0.0], ["Full sugar", 0.0]],
    "Milk": [["Whole milk", 0.0], ["Oat milk", 0.6]],
    "Side": [["Rice", 0.0], ["Bread", 0.5], ["Greens", 1.5]],
    "辣度": [["不辣", 0.0], ["微辣", 0.0], ["中辣", 0.0]],
    "份量": [["小份", 0.0], ["大份", 5.0]],
}
EXTRAS: dict[str, float] = {
    "Soft egg": 1.2, "Extra tofu": 1.8, "Pickles": 0.8, "Crispy shallots": 0.6, "Extra cheese": 2.0,
    "Garlic bread": 3.0, "Vanilla cream": 1.2, "Extra shot": 1.0, "米饭": 0.8, "加香菜": 0.0,
}  # fmt: skip
KITCHENS: tuple[str, ...] = ("Home cooking", "Grill", "家常菜", "Rice", "Noodles", "Pies", "Sweets")
"""What a kitchen can be; the order in which they are offered."""

_HOT = ("Size", "Spice")
_ZH = ("份量", "辣度")
_TOPS = ("Soft egg", "Crispy shallots")
_TOFU = ("Soft egg", "Extra tofu")
_DAN = ("Soft egg", "Pickles")

RESTAURANTS: tuple[Restaurant, ...] = (
    ("Nonna Petra's Table", "Home cooking", "soup", 4.8, 45, 3.5, (
        ("For the table", (
            ("Slow tomato beans", "soup", 9.5, "White beans, tomato, sage", ("Size",), ("Garlic bread",)),
            ("Baked pasta shells", "noodles", 13.0, "Ricotta, spinach, a crisp top", ("Size",), ("Extra cheese",)),
            ("Lemon roast chicken", "plate", 16.5, "Half a bird, potatoes, lemon", ("Size", "Side"), ()),
            ("Stuffed peppers", "plate", 12.0, "Rice, herbs, yoghurt", ("Size", "Side"), ()),
        )),
        ("Soups", (
            ("White bean soup", "soup", 7.2, "Beans, rosemary, olive oil", ("Size",), ("Garlic bread",)),
            ("Little meatball soup", "soup", 8.8, "Clear broth, tiny meatballs", ("Size",), ()),
        )),
        ("Sweet", (
            ("Apple slice", "cake", 4.5, "Warm apples under a lattice", (), ("Vanilla cream",)),
            ("Rice pudding", "cake", 4.0, "Cinnamon, lemon peel", (), ()),
        )),
    )),
    ("Saffron Attic", "Rice", "rice", 4.6, 35, 2.8, (
        ("Rice pots", (
            ("Saffron chicken rice", "rice", 13.8, "Chicken, saffron, almonds", _HOT, _TOPS),
            ("Coconut chicken rice", "rice", 12.4, "Chicken thigh, coconut rice, sambal", _HOT, _TOPS),
            ("Lentil and onion rice", "rice", 9.0, "Brown lentils, dark onions", ("Size",), ("Pickles",)),
            ("Turmeric fish rice", "rice", 12.9, "Grilled fish, turmeric, lime leaf", _HOT, ()),
        )),
        ("On the side", (
            ("Cucumber yoghurt", "salad", 3.8, "Cold, with dried mint", (), ()),
            ("Warm flatbreads", "flat", 3.2, "Three, brushed with butter", (), ()),
        )),
    )),
    ("Rice Almanac", "Rice", "rice", 4.6, 40, 1.2, (
        ("Rice sets", (
            ("Coconut chicken rice", "rice", 10.9, "Chicken thigh, coconut rice, sambal", _HOT, _TOPS),
            ("Sweet soy tofu rice", "rice", 10.8, "Fried tofu, long beans, sweet soy", _HOT, _TOFU),
            ("Black pepper beef rice", "rice", 13.9, "Beef, black pepper, onion", _HOT, ("Soft egg",)),
        )),
        ("On sticks", (
            ("Peanut skewers", "skewers", 9.8, "Six sticks, peanut sauce", ("Spice",), ("Pickles",)),
        )),
    )),
    ("Copper Ladle", "Noodles", "noodles", 4.8, 35, 4.2, (
        ("Noodle bowls", (
            ("Smoked broth noodles", "noodles", 11.8, "Slow broth, spring onion, a soft egg", _HOT, _TOPS),
            ("Sesame dan noodles", "noodles", 11.9, "Sesame, crushed peanuts, chilli oil", _HOT, _DAN),
            ("Forest mushroom noodles", "noodles", 12.6, "Four mushrooms, miso butter", _HOT, ("Extra tofu",)),
        )),
        ("Small plates", (
            ("Charred greens", "plate", 5.4, "With garlic and black vinegar", (), ()),
            ("Pan-fried parcels", "dumplings", 8.1, "Six parcels, cabbage and tofu", ("Spice",), ("Pickles",)),
        )),
    )),
    ("外婆的灶台", "家常菜", "dumplings", 4.9, 40, 2.5, (
        ("家常小炒", (
            ("番茄炒蛋", "plate", 8.8, "番茄，鸡蛋，一点糖", ("份量",), ("米饭",)),
            ("红烧狮子头", "plate", 15.8, "四只，文火慢炖", _ZH, ("米饭",)),
            ("清蒸鲈鱼", "plate", 22.0, "整条，葱丝，姜丝", (), ("米饭",)),
            ("蒜蓉青菜", "salad", 7.5, "时令青菜，蒜蓉", ("份量",), ()),
        )),
        ("汤和点心", (
            ("冬瓜排骨汤", "soup", 11.5, "冬瓜，排骨，薏米", ("份量",), ()),
            ("三鲜蒸饺", "dumplings", 8.9, "八只，虾仁，韭菜，鸡蛋", (), ()),
            ("芝麻汤圆", "soup", 5.5, "六只，黑芝麻", (), ()),
        )),
    )),
    ("Cinder Yard", "Grill", "skewers", 4.4, 50, 3.9, (
        ("From the coals", (
            ("Charred corn and beans", "plate", 10.5, "Smoked salt, lime", ("Spice",), ()),
            ("Paprika skewers", "skewers", 12.5, "Eight sticks, chicken", ("Spice", "Side"), ("Pickles",)),
            ("Coal potatoes", "plate", 6.0, "Soured cream, chives", ("Size",), ("Extra cheese",)),
        )),
        ("Drinks", (
            ("Smoked plum cooler", "drink", 4.2, "Plum, soda, mint", ("Cup", "Sugar"), ()),
        )),
    )),
    ("The Pie Ledger", "Pies", "flat", 4.5, 30, 2.0, (
        ("Pies", (
            ("Leek and potato pie", "flat", 9.8, "Soft leeks, nutmeg", ("Size", "Side"), ()),
            ("Beef and barley pie", "flat", 12.2, "Slow beef, dark gravy", ("Size", "Side"), ()),
            ("Mushroom pie", "flat", 10.4, "Chestnut mushrooms, thyme", ("Size", "Side"), ()),
        )),
    )),
    ("Marzipan Corner", "Sweets", "cake", 4.7, 25, 1.8, (
        ("Cakes", (
            ("Lemon drizzle square", "cake", 3.9, "Sharp and soft", (), ("Vanilla cream",)),
            ("Almond tart", "cake", 5.2, "Short crust, apricot", (), ("Vanilla cream",)),
        )),
        ("Cups", (
            ("Cinnamon latte", "coffee", 5.2, "Cinnamon bark, steamed milk", ("Cup", "Milk", "Sugar"), ("Extra shot",)),
            ("Hot chocolate", "coffee", 4.8, "Dark, thick", ("Cup",), ("Vanilla cream",)),
        )),
    )),
)  # fmt: skip
