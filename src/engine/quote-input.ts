const shown = 80

/** What a caller sent, for a message to that caller: quoted, and cut to a readable length. */
export function quoteInput(text: string): string {
  const characters = Array.from(text)
  const cut = characters.length > shown ? `${characters.slice(0, shown).join('')}…` : text
  return JSON.stringify(cut)
}
