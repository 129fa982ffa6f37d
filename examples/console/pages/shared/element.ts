/** What stands inside an element; null and false stand for nothing. */
export type Child = Node | string | null | false | readonly Child[]

/** Attributes by their HTML names. `true` is an empty attribute, null and false leave it out. */
export type Attributes = Readonly<
  Record<string, string | number | boolean | null | undefined | ((event: Event) => void)>
>

/**
 * Makes an element: `element('button', { type: 'submit', onclick: save }, 'Save')`. Text stays text, whatever it
 * holds: nothing is ever parsed as HTML.
 */
export function element<K extends keyof HTMLElementTagNameMap>(
  name: K,
  attributes: Attributes = {},
  ...children: readonly Child[]
): HTMLElementTagNameMap[K] {
  return filled(document.createElement(name), attributes, children)
}

/** The same for drawings. */
export function svgElement<K extends keyof SVGElementTagNameMap>(
  name: K,
  attributes: Attributes = {},
  ...children: readonly Child[]
): SVGElementTagNameMap[K] {
  return filled(document.createElementNS('http://www.w3.org/2000/svg', name), attributes, children)
}

/** Adds to an element what `element` takes as its children. */
export function append(parent: Element, ...children: readonly Child[]): void {
  parent.append(...nodesOf(children))
}

function filled<T extends Element>(made: T, attributes: Attributes, children: readonly Child[]): T {
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === 'function') made.addEventListener(name.replace(/^on/, ''), value)
    else if (value === true) made.setAttribute(name, '')
    else if (value !== null && value !== undefined && value !== false) {
      made.setAttribute(name, String(value))
    }
  }
  made.append(...nodesOf(children))
  return made
}

function nodesOf(children: readonly Child[]): readonly (Node | string)[] {
  return children.flatMap((child) => {
    if (child === null || child === false) return []
    if (typeof child === 'string' || child instanceof Node) return [child]
    return nodesOf(child)
  })
}
