// SVG elements; their colours are the theme's by CSS, so they follow it by themselves.

type Child = Node | string | null | false;

export function svg(tag: string, properties: Record<string, string | number> = {}, ...children: Child[]): SVGElement {
  const element = document.createElementNS('http://www.w3.org/2000/svg', tag);
  for (const [name, value] of Object.entries(properties)) {
    element.setAttribute(name, String(value));
  }
  element.append(...children.filter((child): child is Node | string => child !== null && child !== false));
  return element;
}
