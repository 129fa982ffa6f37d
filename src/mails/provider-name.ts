const names: ReadonlyMap<string, string> = new Map([
  ['google', 'Google'],
  ['microsoft', 'Microsoft'],
  ['apple', 'Apple'],
  ['github', 'GitHub'],
])

/** The name of an identity provider as it writes itself; its id where none is known. */
export function providerName(id: string): string {
  return names.get(id) ?? id
}
