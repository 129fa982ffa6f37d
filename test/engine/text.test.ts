import fc from 'fast-check'
import { describe, expect, it, test } from 'vitest'
import { isTenantId } from '../../src/engine/accounts.js'
import { enrolledMark } from '../../src/engine/factors.js'
import { contextWords, foldWord } from '../../src/engine/passwords.js'
import {
  acceptedLanguages,
  asSingleLine,
  formDecoded,
  isSingleLine,
  isStorable,
  utf8Length,
  withoutEnding,
} from '../../src/engine/text.js'
import { quoteInput } from '../../src/errors/index.js'

it('text that a store can hold is well-formed and without NUL', () => {
  const all = ['', 'Ada', 'a\0b', '\ud800', 7, null, undefined]
  expect(all.map(isStorable)).toEqual([true, true, false, false, false, false, false])
})

it('a single line has no character that breaks or turns it', () => {
  const all = ['Ada Lovelace', 'a\nb', 'a\u2028b', 'a\u2029b', 'a\u202eb', 'a\u0085b', '']
  expect(all.map(isSingleLine)).toEqual([true, false, false, false, false, false, true])
})

it.each([
  ['Ada\r\nLove', 'Ada Love'],
  ['Ada\t', 'Ada'],
  ['\u200fמשה כהן', 'משה כהן'],
  ['Ada\u200e Love', 'Ada Love'],
  ['\u202bمشه\u202c', 'مشه'],
  ['\u2068Ada\u2069\0', 'Ada'],
  ['علی\u200cرضا 👩\u200d💻 e\u0301', 'علی\u200cرضا 👩\u200d💻 e\u0301'],
  ['   ', ''],
])('a name is made a single line, with what joins letters: %j', (name, line) => {
  expect([asSingleLine(name), isSingleLine(line)]).toEqual([line, true])
})

it('the id of a tenant has 1 to 64 characters, whatever they are', () => {
  const all = ['a', 'x'.repeat(64), '😀'.repeat(64), 'a\nb', '', 'x'.repeat(65), 'a\0', 7]
  expect(all.map(isTenantId)).toEqual([true, true, true, true, false, false, false, false])
})

it('the text of a form is decoded, and null where it spells none', () => {
  const all = ['a+b%20c', 'caf%C3%A9', '%2B', '%', '%ff', 'a\ud800', '']
  expect(all.map(formDecoded)).toEqual(['a b c', 'café', '+', null, null, null, ''])
})

it('input is quoted, and cut after eighty characters', () => {
  expect(quoteInput('say "a"')).toBe('"say \\"a\\""')
  expect(quoteInput('x'.repeat(80))).toBe(`"${'x'.repeat(80)}"`)
  expect(quoteInput('😀'.repeat(81))).toBe(`"${'😀'.repeat(80)}…"`)
})

it('an ending is taken off as far as it goes, and nothing before it', () => {
  const all = ['a=b==', '=', '', 'a', ' = a']
  expect(all.map((text) => withoutEnding(text, ' ='))).toEqual(['a=b', '', '', 'a', ' = a'])
})

it('the mark of a stored factor is not the id of its intent', () => {
  expect(enrolledMark('an intent')).toBe('an intent stored')
})

describe('the words of an account', () => {
  it('are folded to one spelling of what looks alike', () => {
    expect(foldWord('Élodie')).toBe('eiodie')
    expect(foldWord('P@$$w0rd1!|l')).toBe('passwordiiii')
    expect(foldWord('345789 26')).toBe('eastbg 26')
    expect(foldWord('ＡＤＡ')).toBe('ada')
  })

  it('are the local part of an address, and parts of four characters and more', () => {
    expect(contextWords(['ada.byron@example.org', 'Acme Portal'])).toEqual({
      own: ['ada.byron'],
      related: ['byron', 'acme', 'portai'],
    })
    expect(contextWords(['byron@example.org', 'Byron', 'ada', 'four', 'x@y'])).toEqual({
      own: ['byron'],
      related: ['four'],
    })
    // The last @ ends the local part; one that begins a text ends none.
    expect(contextWords(['"a@bcde"@example.org'])).toEqual({ own: ['"aabcde"'], related: ['bcde'] })
    expect(contextWords(['@example'])).toEqual({ own: [], related: ['exampie'] })
  })
})

test('utf8Length is the length of the encoded text, whatever the text', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      expect(utf8Length(text)).toBe(Buffer.byteLength(text, 'utf8'))
    }),
  )
  expect(utf8Length('a\u007f\u0080\u07ff\u0800\uffff\u{10000}\u{10ffff}')).toBe(20)
  expect(utf8Length('\ud800')).toBe(3)
})

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
