import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { isGuessable } from '../../src/crypto/common-password-list.js'

describe('isGuessable', () => {
  const isWord = (text: string) =>
    ['dragon', 'shadow', 'sunshine', 'master', 'alligator'].includes(text)

  test.each([
    ['one word', 'dragon'],
    ['two words', 'dragonshadow'],
    ['two words and a character', 'dragon-shadow'],
    ['a word and three characters', 'dragonx7k'],
    ['a word, a run, a year and a character', 'dragon12342024!'],
    ['signs for letters', 'dr4g0n5h4d0w'],
    ['1 for i', 'sunsh1ne'],
    ['1 for l', 'a11igator'],
    ['five characters', 'x7km2'],
    ['five runs', 'aaabbbcccdddeee'],
    ['what repeats five characters', 'x7km2x7km2x7km2x7'],
  ])('%s is', (_, text) => {
    expect(isGuessable(text, isWord)).toBe(true)
  })

  test.each([
    ['three words', 'dragonshadowmaster'],
    ['two words and two characters', 'dragon-shadow-'],
    ['a word and four characters', 'dragonx7km'],
    ['six characters', 'x7km2w'],
    ['six runs', 'aaabbbcccdddeeefff'],
    ['what repeats six characters', 'x7km2wx7km2wx7km2w'],
  ])('%s is not', (_, text) => {
    expect(isGuessable(text, isWord)).toBe(false)
  })

  // Four characters beside it: a row that is known makes 5 points, one of two pieces 6 or more.
  test.each([
    ...['01234567890', 'abcdefghijklmnopqrstuvwxyz', 'qwertyuiop', 'asdfghjkl', 'zxcvbnm'],
    ...['qwertzuiop', 'yxcvbnm', 'azertyuiop', 'qsdfghjklm', 'qawsedrftgyhujikolp'],
    ...['1qaz2wsx3edc4rfv5tgb6yhn7ujm8ik9ol0p', '1q2w3e4r5t6y7u8i9o0p'],
    ...['!@#$%^&*()', '!"§$%&/()='],
  ])('%s is one run, forwards, backwards and in part', (row) => {
    const back = Array.from(row).toReversed().join('')
    for (const run of [row, back, row.slice(1), row.slice(0, -1), row.slice(0, 3)]) {
      expect([run, isGuessable(`ö7ä2${run}`, isWord)]).toEqual([run, true])
      expect([run, isGuessable(`${run}ö7ä2`, isWord)]).toEqual([run, true])
      expect([run, isGuessable(`${run}ö7ä2k`, isWord)]).toEqual([run, false])
    }
  })

  test.each([...['0o', '3e', '4a', '5s', '7t', '8b', '9g', '@a', '$s', '1i', '1l', '!i', '!l']])(
    'of %s the first is read as the second',
    (pair) => {
      const [sign = '', letter = ''] = pair
      const isOurs = (text: string) => text === `w${letter}mrdk`
      expect(isGuessable(`w${sign}mrdk`, isOurs)).toBe(true)
      expect(isGuessable(`w${sign}mrdk`, () => false)).toBe(false)
    },
  )

  test.each([
    ['a year of the last century', '1987ö7ä2', true],
    ['a year of this one', 'ö7ä22024', true],
    ['a year amid others', 'ö72024ä2', true],
    ['a number that is no year', '1849ö7ä2', false],
    ['two of a kind', 'kkö7ä2', false],
    ['three of a kind', 'kkkö7ä2', true],
    ['two neighbours in a row', 'qwö7ä2', false],
    ['a word at the end', 'ö7ä-dragon', false],
    ['a word after three characters', 'ö7ädragon', true],
    ['a word of more than 24 letters', 'x7', false],
  ])('knows %s', (name, text, expected) => {
    const long = 'qzjxkvbwpyfmgtdlnrshciaeu'
    const whole = name.includes('24') ? `${text}${long}` : text
    expect(isGuessable(whole, (one) => isWord(one) || one === long)).toBe(expected)
  })

  test('a text that is too long to be judged whole is judged by its beginning', () => {
    const long = 'dragon-'.repeat(150)
    expect(isGuessable(`${long.slice(0, 1_024)}x7km2wq9`, isWord)).toBe(true)
    expect(isGuessable(`${long.slice(0, 1_015)}x7km2wq9`, isWord)).toBe(false)
  })

  test('a listed text is guessable as a whole, even one that repeats an odd part', () => {
    const odd = 'x7km2wvx7km2wv'
    expect(isGuessable(odd, (text) => text === odd)).toBe(true)
    expect(isGuessable(odd, isWord)).toBe(false)
  })

  test('answers for every text of a password’s size, soon', () => {
    const alphabet = fc.constantFrom('a', 'b', '1', 'q', 'w', '!')
    fc.assert(
      fc.property(fc.string({ unit: alphabet, minLength: 900, maxLength: 1_024 }), (text) => {
        expect(typeof isGuessable(text, isWord)).toBe('boolean')
      }),
      { numRuns: 50 },
    )
    expect(isGuessable('', isWord)).toBe(true)
  })
})
