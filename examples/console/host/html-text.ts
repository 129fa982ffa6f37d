const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

/** The text as HTML shows it, also within an attribute. */
export function htmlText(text: string): string {
  return text.replace(/[&<>"']/g, (one) => entities[one] ?? one)
}
