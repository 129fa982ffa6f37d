import { type Child, element } from './element.ts'

const browsers: readonly (readonly [name: string, sign: RegExp])[] = [
  ['Edge', /\bEdg(?:e|A|iOS)?\//],
  ['Opera', /\bOPR\//],
  ['Firefox', /\b(?:Firefox|FxiOS)\//],
  ['Chrome', /\b(?:(?:Headless)?Chrome|CriOS)\//],
  ['Safari', /\bSafari\//],
]

const systems: readonly (readonly [name: string, sign: RegExp])[] = [
  ['iPhone', /\biPhone\b/],
  ['iPad', /\biPad\b/],
  ['Android', /\bAndroid\b/],
  ['Windows', /\bWindows\b/],
  ['macOS', /\bMac OS X\b/],
  ['Linux', /\bLinux\b/],
]

const named = (list: typeof browsers, text: string) => list.find(([, sign]) => sign.test(text))?.[0]

/** A browser in short, such as `Firefox on Windows`; null for an unknown one. */
export function browserName(userAgent: string): string | null {
  const browser = named(browsers, userAgent)
  const system = named(systems, userAgent)
  if (browser === undefined) return null
  return system === undefined ? browser : `${browser} on ${system}`
}

/** What a session says of its browser, in short; all of it is in the tooltip. */
export function browserText(userAgent: string | null): Child {
  if (userAgent === null) return 'not known'
  const name = browserName(userAgent)
  return name === null ? userAgent : element('span', { title: userAgent }, name)
}
