import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { acceptedLanguages } from '../../src/engine/text.js'

describe('the languages of Accept-Language', () => {
  it.each([
    ['', []],
    ['de', ['de']],
    ['de-AT,de;q=0.9,en;q=0.5', ['de-at', 'de', 'en']],
    ['en;q=0.5, de;q=0.9,\tfr', ['fr', 'de', 'en']],
    ['da, en-GB;q=0.8, en;q=0.7', ['da', 'en-gb', 'en']],
    ['en;q=0.8, de;q=0.8', ['en', 'de']],
    ['en ; q=0.5 , de', ['de', 'en']],
    ['en;Q=0.5,de', ['de', 'en']],
    ['de;q=0, en', ['en']],
    ['de;q=0.000, en;q=0.001', ['en']],
    ['de;q=1.000, en;q=1.', ['de', 'en']],
    ['de, en, DE;q=0.5', ['de', 'en']],
    ['*', []],
    ['en, *;q=0.1', ['en']],
    ['zh-Hant-TW', ['zh-hant-tw']],
    // No language ranges, or no weights.
    ['de_AT, d€, 1a, -de, de-, de--at, a b, en', ['en']],
    ['de;q=1.5, de;q=2, de;q=-1, de;q=0.0001, de;q=x, de;level=1, en', ['en']],
    ['abcdefghi, de-abcdefghi, en', ['en']],
    [',,en,,', ['en']],
    ['<script>, {{x}}, en\u0000, de\r\nx: y', []],
  ])('of %j are %j', (header, expected) => {
    expect(acceptedLanguages(header)).toEqual(expected)
  })

  it('are at most ten, those of the greatest weight', () => {
    const many = Array.from({ length: 26 }, (_, i) => {
      return `a${String.fromCharCode(97 + i)};q=0.${100 + i}`
    })
    const least = Array.from({ length: 10 }, (_, i) => `a${String.fromCharCode(122 - i)}`)
    expect(acceptedLanguages(many.join(','))).toEqual(least)
  })

  it('are 35 characters long at most', () => {
    const tag = 'en-abcdefgh-abcdefgh-abcdefgh-abcde'
    expect(tag).toHaveLength(35)
    expect(acceptedLanguages(`${tag},${tag}f,de`)).toEqual([tag, 'de'])
  })

  it('are read from the first 500 characters, without what was cut there', () => {
    const filler = `${' '.repeat(494)},`
    expect(acceptedLanguages(`${filler}de-AT`)).toEqual(['de-at'])
    expect(acceptedLanguages(`${filler}de-AT-x`)).toEqual([])
    expect(acceptedLanguages(`en,${filler}de`)).toEqual(['en', 'de'])
  })

  it('hold nothing but language ranges, whatever the header', () => {
    const part = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.constantFrom('de', 'en-GB', ',', ';q=', '0.5', '*', ' ', '-', '\r\n'),
    )
    const header = fc.array(part, { maxLength: 60 }).map((parts) => parts.join(''))
    fc.assert(
      fc.property(header, (text) => {
        const found = acceptedLanguages(text)
        expect(found.length).toBeLessThanOrEqual(10)
        expect(new Set(found).size).toBe(found.length)
        for (const range of found) {
          expect(range).toMatch(/^[a-z]{1,8}(-[a-z0-9]{1,8})*$/)
          expect(range.length).toBeLessThanOrEqual(35)
        }
      }),
    )
  })
})
