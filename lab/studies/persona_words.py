"""The words in which a persona is told and asked about, by locale: what the keys of its profile mean to a person.

Keys are those of KnowU-Bench's profiles; any other key is its own words.
"""

from __future__ import annotations

from collections.abc import Mapping

NAMES: Mapping[str, Mapping[str, str]] = {
    "en": {
        "auth_method": "way of unlocking the phone", "diet_type": "way of eating", "email_work": "mail address at work",
        "email_personal": "private mail address", "employee_id": "number as an employee", "full_name": "full name",
        "position": "position on the map", "trade_offs": "what is weighed",
    },
    "zh": {
        "identity": "身份", "locations": "地点", "digital_context": "手机与设备", "habits": "习惯",
        "preferences": "偏好",
        "decision_criteria": "怎样决定", "social_graph": "认识的人", "full_name": "全名", "nickname": "昵称",
        "age": "年龄", "occupation": "职业", "employer": "工作单位", "phone": "电话号码", "email_work": "工作邮箱",
        "email_personal": "私人邮箱", "employee_id": "员工编号", "address": "地址", "label": "叫法",
        "position": "地图位置",
        "instructions": "说明", "devices": "设备", "language": "语言", "theme": "主题", "time_zone": "时区",
        "font_size": "字号", "auth_method": "解锁方式", "diet": "饮食", "diet_type": "饮食方式",
        "cuisine_preference": "喜欢的菜", "special_notes": "特别说明", "sleep": "睡眠", "shopping": "购物",
        "payment_method": "付款方式", "travel": "出行", "commute": "通勤", "apps": "应用", "delivery": "外卖",
        "social": "交往", "communication_style": "说话方式", "priorities": "优先考虑的事", "trade_offs": "权衡",
        "high_priority": "重要的人", "routine": "常联系的人", "friends_and_family": "朋友和家人", "role": "关系",
        "app_preference": "联系方式", "home": "家", "work": "工作地点", "settings": "设置", "detail": "做法",
        "description": "内容", "event": "时机", "days": "日子", "time": "时间", "time_range": "时间段", "place": "地点",
    },
}  # fmt: skip
"""What a key is called, where that is not its own words."""

SAID: Mapping[str, Mapping[str, str]] = {
    "en": {
        "age": "{name} is {value} years old.",
        "nickname": "{name} is also called {value}.",
        "occupation": "{name}'s occupation: {value}.",
        "employer": "{name} works for {value}.",
        "address": "The address is {value}.",
        "label": "It is called “{value}”.",
        "position": "On the map it is at {value}.",
        "role": "{value}.",
        "app_preference": "Reached by {value}.",
        "settings": "It concerns {value}.",
        "type": "On the phone this means: {value}.",
        "priorities": "What comes first is {value}.",
        "_is": "The {fact} is {value}.",
        "_are": "The {fact} are {value}.",
        "_as for": "As for {fact}: {value}",
        "_when": "It comes {value}.",
        "_event": "when {value}",
        "_at": "at {value}",
        "_between": "between {value}",
        "_from": "from {value}",
        "_on": "on {value}",
        "_in": "at {value}",
        "_gap": " ",
        "_and": " and ",
        "_comma": ", ",
        "_of": "{fact} ({owner})",
        "_yes": "yes",
        "_no": "no",
        "_none": "not told",
        "_item": "{item}: {value}",
    },
    "zh": {
        "age": "{name}今年 {value} 岁。",
        "nickname": "{name}也叫{value}。",
        "occupation": "{name}的职业是：{value}。",
        "employer": "{name}的工作单位是 {value}。",
        "address": "地址是 {value}。",
        "label": "这里叫“{value}”。",
        "position": "在地图上位于 {value}。",
        "role": "{value}。",
        "app_preference": "通过 {value} 联系。",
        "settings": "涉及：{value}。",
        "type": "在手机上这是：{value}。",
        "priorities": "最看重的是：{value}。",
        "_is": "{fact}是 {value}。",
        "_are": "{fact}是 {value}。",
        "_as for": "关于{fact}：{value}",
        "_when": "时间和场合：{value}。",
        "_event": "{value}",
        "_at": "{value}",
        "_between": "{value} 之间",
        "_from": "{value}",
        "_on": "{value}",
        "_in": "在{value}",
        "_gap": "",
        "_and": "和",
        "_comma": "，",
        "_of": "{fact}（{owner}）",
        "_yes": "是",
        "_no": "否",
        "_none": "没有说明",
        "_item": "{item}：{value}",
    },
}
"""How a fact is said, by its key; keys that begin with `_` are for all others."""

ASKED: Mapping[str, Mapping[str, str]] = {
    "en": {
        "age": "How old is {name}?",
        "occupation": "What is {name}'s occupation?",
        "employer": "Who does {name} work for?",
        "address": "What is the address of this place of {name}'s: {owner}?",
        "label": "What does {name} call this place: {owner}?",
        "instructions": "What is to be known about this place of {name}'s: {owner}?",
        "role": "Who is {owner} to {name}?",
        "app_preference": "How does {name} reach {owner}?",
        "priorities": "What comes first when {name} decides?",
        "trade_offs": "How does {name} weigh one thing against another?",
        "time": "At what time does {name} keep this habit: {owner}?",
        "time_range": "Between which times does {name} keep this habit: {owner}?",
        "days": "On which days does {name} keep this habit: {owner}?",
        "place": "Where does {name} keep this habit: {owner}?",
        "event": "What happens just before {name} keeps this habit: {owner}?",
        "description": "What does {name} do in this habit: {owner}?",
        "detail": "How does {name} go about this habit: {owner}?",
        "settings": "Which settings does {name} change in this habit: {owner}?",
        "_owned": "What did you read of {name}, under “{owner}”, about “{fact}”?",
        "_alone": "What did you read of {name} about “{fact}”?",
    },
    "zh": {
        "age": "{name}多大年纪？",
        "occupation": "{name}做什么工作？",
        "employer": "{name}在哪里工作？",
        "address": "{name}的这个地点（{owner}）的地址是什么？",
        "label": "{name}怎样称呼这个地点（{owner}）？",
        "instructions": "关于{name}的这个地点（{owner}），需要知道什么？",
        "role": "对{name}来说，{owner} 是什么人？",
        "app_preference": "{name}怎样联系 {owner}？",
        "priorities": "{name}做决定时最看重什么？",
        "trade_offs": "{name}怎样权衡得失？",
        "time": "{name}的这个习惯（{owner}）是在几点？",
        "time_range": "{name}的这个习惯（{owner}）是在哪段时间？",
        "days": "{name}的这个习惯（{owner}）是在哪几天？",
        "place": "{name}的这个习惯（{owner}）是在哪里？",
        "event": "{name}的这个习惯（{owner}）之前会发生什么？",
        "description": "在这个习惯（{owner}）里，{name}做什么？",
        "detail": "{name}怎样做这个习惯（{owner}）？",
        "settings": "{name}的这个习惯（{owner}）涉及哪些设置？",
        "_owned": "关于{name}，在“{owner}”里，您读到的“{fact}”是怎样的？",
        "_alone": "关于{name}，您读到的“{fact}”是怎样的？",
    },
}
"""How a fact is asked about, by its key; of a habit, a place or a person `owner` is which one."""


def words_in(table: Mapping[str, Mapping[str, str]], locale: str) -> Mapping[str, str]:
    """A table in that locale; English where it has none."""
    return table.get(locale) or table.get(locale.partition("-")[0]) or table["en"]
