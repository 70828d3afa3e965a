"""What can be measured of how a page looks: whether text stands out from its ground, and whether all of it is in sight."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from playwright.sync_api import Locator

# Any colour that CSS has as [r, g, b, a] by painting it; grounds are laid over each other from the outermost in.
_FAINT = """(root, least) => {
  const paint = document.createElement('canvas').getContext('2d', {willReadFrequently: true});
  const rgba = (colour) => {
    paint.clearRect(0, 0, 1, 1);
    paint.fillStyle = colour;
    paint.fillRect(0, 0, 1, 1);
    const [r, g, b, a] = paint.getImageData(0, 0, 1, 1).data;
    return [r, g, b, a / 255];
  };
  const over = (top, under) => [0, 1, 2].map((i) => top[i] * top[3] + under[i] * (1 - top[3])).concat(1);
  const ground = (element) => {
    const mine = rgba(getComputedStyle(element).backgroundColor);
    return mine[3] === 1 ? mine : over(mine, element.parentElement ? ground(element.parentElement) : [255, 255, 255, 1]);
  };
  const light = ([r, g, b]) => {
    const [x, y, z] = [r, g, b].map((v) => ((v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4));
    return 0.2126 * x + 0.7152 * y + 0.0722 * z;
  };
  const found = [];
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const element = node.parentElement;
    const box = element.getBoundingClientRect();
    const style = getComputedStyle(element);
    const inPicture = element.closest('svg, select, script, style, [disabled]');
    if (!node.data.trim() || box.width < 2 || box.height < 2 || style.visibility === 'hidden' || inPicture) continue;
    const under = ground(element);
    const [a, b] = [light(over(rgba(style.color), under)), light(under)].sort((x, y) => y - x);
    const ratio = (a + 0.05) / (b + 0.05);
    if (ratio < least) found.push(`${node.data.trim().slice(0, 40)} (${element.className}): ${ratio.toFixed(2)}`);
  }
  return [...new Set(found)];
}"""
_CUT = """(root, may) => {
  const found = [];
  for (const element of [document.documentElement, ...root.querySelectorAll('*')]) {
    if (element.closest('svg') || element.closest(may) || element.clientWidth < 2) continue;
    const box = element.getBoundingClientRect();
    const out = box.right > window.innerWidth + 1 && box.width > 2;
    if (element.scrollWidth > element.clientWidth + 1 && getComputedStyle(element).overflowX !== 'visible' || out) {
      found.push(`${element.tagName}.${element.className}: ${element.scrollWidth} in ${element.clientWidth}, right ${box.right}`);
    }
  }
  return found;
}"""


def faint(page: Locator, least: float = 4.5) -> list[str]:
    """Texts whose contrast with what is behind them is less than ``least`` (WCAG's ratio)."""
    found: Any = page.evaluate(_FAINT, least)
    return [str(one) for one in found]


def cut(page: Locator, may: str) -> list[str]:
    """Elements that reach out of the window or have to be scrolled sideways, but for those that ``may``."""
    found: Any = page.evaluate(_CUT, may)
    return [str(one) for one in found]
