const entities: ReadonlyMap<string, string> = new Map([
  ['&', '&amp;'],
  ['<', '&lt;'],
  ['>', '&gt;'],
  ['"', '&quot;'],
  ["'", '&#39;'],
])

/** The text as HTML shows it, also within an attribute. */
export function htmlText(text: string): string {
  return text.replaceAll(/[&<>"']/g, (one) => entities.get(one) ?? one)
}
