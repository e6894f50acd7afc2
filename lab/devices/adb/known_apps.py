"""Packages of common apps by their everyday names, for names that a package does not contain."""

from __future__ import annotations

_TABLE = """
alarm                com.google.android.deskclock com.android.deskclock com.sec.android.app.clockpackage
amap 高德地图        com.autonavi.minimap
alipay 支付宝        com.eg.android.AlipayGphone
audio_recorder       com.dimowner.audiorecorder
bilibili 哔哩哔哩    tv.danmaku.bili
broccoli             com.flauschcode.broccoli
browser 浏览器       com.android.chrome com.android.browser com.sec.android.app.sbrowser com.mi.globalbrowser
calculator 计算器    com.google.android.calculator com.android.calculator2 com.sec.android.app.popupcalculator
calendar 日历        com.google.android.calendar com.android.calendar com.samsung.android.calendar
camera 相机          com.google.android.GoogleCamera com.android.camera2 com.android.camera com.sec.android.app.camera
chrome               com.android.chrome
clock 时钟           com.google.android.deskclock com.android.deskclock com.sec.android.app.clockpackage
contacts 通讯录      com.google.android.contacts com.android.contacts com.samsung.android.app.contacts
ctrip 携程           ctrip.android.view
didi 滴滴出行        com.sdu.didi.psnger
discord              com.discord
douban 豆瓣          com.douban.frodo
douyin 抖音          com.ss.android.ugc.aweme
eleme 饿了么         me.ele
expense pro_expense  com.arduia.expense
facebook             com.facebook.katana
files 文件           com.google.android.documentsui com.android.documentsui com.google.android.apps.nbu.files
gallery 相册         com.google.android.apps.photos com.android.gallery3d com.sec.android.gallery3d com.miui.gallery
gmail                com.google.android.gm
instagram            com.instagram.android
jd jingdong 京东     com.jingdong.app.mall
joplin               net.cozic.joplin
mail email 邮件      com.google.android.gm com.android.email com.samsung.android.email.provider
maps google_maps     com.google.android.apps.maps
markor               net.gsantner.markor
mastodon             org.joinmastodon.android
mattermost           com.mattermost.rn
meituan 美团         com.sankuai.meituan
messages sms 短信    com.google.android.apps.messaging com.android.mms com.samsung.android.messaging
netease_music 网易云音乐 com.netease.cloudmusic
netflix              com.netflix.mediaclient
opentracks           de.dennisguse.opentracks
osmand               net.osmand net.osmand.plus
phone dialer 电话    com.google.android.dialer com.android.dialer com.samsung.android.dialer
photos google_photos com.google.android.apps.photos
pinduoduo 拼多多     com.xunmeng.pinduoduo
play_store           com.android.vending
qq                   com.tencent.mobileqq
qq_music QQ音乐      com.tencent.qqmusic
railway 铁路12306    com.MobileTicket
reddit               com.reddit.frontpage
retro_music          code.name.monkey.retromusic
settings 设置        com.android.settings
simple_calendar_pro  com.simplemobiletools.calendar.pro
simple_draw_pro      com.simplemobiletools.draw.pro
simple_gallery_pro   com.simplemobiletools.gallery.pro
simple_sms_messenger com.simplemobiletools.smsmessenger
spotify              com.spotify.music
taobao 淘宝          com.taobao.taobao
tasks                org.tasks
telegram             org.telegram.messenger
tiktok               com.zhiliaoapp.musically
twitter x            com.twitter.android
vlc                  org.videolan.vlc
weather              com.google.android.apps.weather com.sec.android.daemonapp com.miui.weather2
wechat weixin 微信   com.tencent.mm
weibo 微博           com.sina.weibo
whatsapp             com.whatsapp
xiaohongshu rednote 小红书 com.xingin.xhs
youtube              com.google.android.youtube
zhihu 知乎           com.zhihu.android
"""


def packages(name: str) -> list[str]:
    """Return the packages of an app called `name`, likeliest first, or an empty list."""
    app_name = name.strip().casefold().replace(" ", "_")
    ids: list[str] = []
    for line in _TABLE.split("\n"):
        names = [word.casefold() for word in line.split() if not _is_package(word)]
        if app_name in names:
            ids += [word for word in line.split() if _is_package(word)]
    return ids


def _is_package(word: str) -> bool:
    return "." in word
