import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { valueProblem } from '../../src/settings/auth-module.js'
import { authSettingDeclarations, findSetting } from '../../src/settings/settings.js'

const page = readFileSync(new URL('../../docs/hardening.md', import.meta.url), 'utf8')

/** The rows on settings: the key, its default and the stricter value, as the page has them. */
const rows = [...page.matchAll(/^\| `(\w+)`[^|]*\| `([^`]+)`[^|]* \| `([^`]+)`[^|]* \|/gm)].map(
  ([, key = '', standard = '', stricter = '']) => ({ key, standard, stricter }),
)
const declared = rows.filter(({ key }) => authSettingDeclarations.some((one) => one.key === key))

describe('the page on hardening says what the code does', () => {
  it('finds its rows', () => {
    expect(declared.length).toBeGreaterThan(9)
  })

  it.each(declared)('$key is $standard by default', ({ key, standard }) => {
    const field = authSettingDeclarations.find((one) => one.key === key)
    expect(String(field?.default)).toBe(standard)
  })

  it.each(declared)(
    '$key may be $stricter, which is another value',
    ({ key, standard, stricter }) => {
      const setting = findSetting(key)
      if (setting === undefined) throw new Error(`no setting ${key}`)
      expect(stricter).not.toBe(standard)
      expect(valueProblem(setting, stricter)).toBeNull()
    },
  )
})
