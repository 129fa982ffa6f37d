type Named = readonly (readonly [mark: string, name: string])[]

/** The first that occurs decides: most name those after them too. */
const browsers: Named = [
  ['Edg', 'Edge'],
  ['OPR/', 'Opera'],
  ['SamsungBrowser/', 'Samsung Internet'],
  ['Firefox/', 'Firefox'],
  ['FxiOS/', 'Firefox'],
  ['CriOS/', 'Chrome'],
  ['Chrome/', 'Chrome'],
  ['Safari/', 'Safari'],
]

const systems: Named = [
  ['Android', 'Android'],
  ['iPhone', 'iPhone'],
  ['iPad', 'iPad'],
  ['Windows', 'Windows'],
  ['CrOS', 'ChromeOS'],
  ['Mac OS X', 'macOS'],
  ['Linux', 'Linux'],
]

/** The name of an app and its version: nothing that a mail program makes a link or a telephone number of. */
const app = /^([a-z][a-z_-]{0,23}\d{0,2})\/\d{1,5}(?:\.\d{1,5}){0,3}(?![\w./-])/i

/**
 * The browser and the system that a `User-Agent` names, such as `Firefox, Windows`, or the app, such as `curl/8.5.0`.
 * Null where it names neither. A caller writes this header as they like, so its text itself is mailed to no one.
 */
export function deviceName(userAgent: string): string | null {
  const nameIn = (table: Named) => table.find(([mark]) => userAgent.includes(mark))?.[1]
  const [named, name] = app.exec(userAgent) ?? []
  const program = nameIn(browsers) ?? (name === 'Mozilla' ? undefined : named)
  const parts = [program, nameIn(systems)].filter((one) => one !== undefined)
  return parts.length === 0 ? null : parts.join(', ')
}
