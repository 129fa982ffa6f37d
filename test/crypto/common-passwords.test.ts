import { dictionary } from '@zxcvbn-ts/language-common'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { loadCommonPasswords } from '../../src/crypto/common-passwords.js'

describe('loadCommonPasswords', async () => {
  const isCommon = await loadCommonPasswords()

  test('refuses every listed password of 8 characters and more, in any case', () => {
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
  ])('refuses %s', (password) => {
    expect(isCommon(password)).toBe(true)
  })

  test.each([
    ...['correct horse battery staple', 'correcthorsebatterystaple', 'monkey-in-a-hat-99'],
    ...['x7$kQ9!zLm2pRt5w', '738104926518374', 'tkqbzrwmvxhdpfj', 'ÄÖÜäöüßéàôñçøåž'],
    ...['the lamp is under the third stair'],
  ])('accepts %s', (password) => {
    expect(isCommon(password)).toBe(false)
  })

  test('three words of a passphrase generator pass', () => {
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
