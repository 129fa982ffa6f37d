import { describe, expect, it } from 'vitest'
import { isTenantId } from '../../src/engine/accounts.js'
import { enrolledMark } from '../../src/engine/factors.js'
import { contextWords, foldWord } from '../../src/engine/passwords.js'
import { formDecoded, isSingleLine, isStorable, withoutEnding } from '../../src/engine/text.js'
import { quoteInput } from '../../src/errors/index.js'

it('text that a store can hold is well-formed and without NUL', () => {
  const all = ['', 'Ada', 'a\0b', '\ud800', 7, null, undefined]
  expect(all.map(isStorable)).toEqual([true, true, false, false, false, false, false])
})

it('a single line has no character that breaks or turns it', () => {
  const all = ['Ada Lovelace', 'a\nb', 'a\u2028b', 'a\u2029b', 'a\u202eb', 'a\u0085b', '']
  expect(all.map(isSingleLine)).toEqual([true, false, false, false, false, false, true])
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
