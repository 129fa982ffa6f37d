import { dictionary } from '@zxcvbn-ts/language-common'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { loadCommonPasswords } from '../../src/crypto/common-passwords.js'
import { isGuessable } from '../../src/crypto/guessable.js'

describe('loadCommonPasswords', async () => {
  const isCommon = await loadCommonPasswords()

  test('ASVS-6.2.4 refuses every listed password of 8 characters and more, in any case', () => {
    const listed = dictionary['passwords-common'].filter((password) => password.length >= 8)
    expect(listed.length).toBeGreaterThan(10_000)
    expect(listed.filter((password) => !isCommon(password))).toEqual([])
    expect(listed.slice(0, 3_000).filter((password) => !isCommon(password.toUpperCase()))).toEqual(
      [],
    )
  })

  test.each([
    ...['password1234', 'Password1234!', 'P@ssw0rd2024!', '!!Password!!', 'ｐａｓｓｗｏｒｄ'],
    ...['passwordpassword', '123456789012345', 'qwertyuiopasdfgh', 'aaaaaaaaaaaaaaaa'],
    ...['abcdefghijklmnop', 'ponmlkjihgfedcba', '098765432109876', 'zaq12wsxcde34rfv'],
    ...['111222333444555', 'abc123abc123abc123', 'Passw0rd!Passw0rd!', 'hunter2hunter2hunter2'],
    ...['footballbaseball', 'iloveyouforever123', 'Welcome12345678', '1q2w3e4r5t6y7u8i'],
  ])('S-15 refuses %s', (password) => {
    expect(isCommon(password)).toBe(true)
  })

  test.each([
    ...['correct horse battery staple', 'correcthorsebatterystaple', 'monkey-in-a-hat-99'],
    ...['x7$kQ9!zLm2pRt5w', '738104926518374', 'tkqbzrwmvxhdpfj', 'ÄÖÜäöüßéàôñçøåž'],
    ...['the lamp is under the third stair'],
  ])('accepts %s', (password) => {
    expect(isCommon(password)).toBe(false)
  })

  test('ASVS-6.2.5 three words of a passphrase generator pass', () => {
    const words = dictionary['diceware-common']
    const word = fc.integer({ min: 0, max: words.length - 1 }).map((index) => words[index] ?? '')
    const phrase = fc.uniqueArray(word, { minLength: 3, maxLength: 6 })
    fc.assert(
      fc.property(phrase, fc.constantFrom(' ', '-', '.'), (chosen, joint) => {
        expect(isCommon(chosen.join(joint))).toBe(false)
      }),
      { numRuns: 1_000 },
    )
  })
})

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
