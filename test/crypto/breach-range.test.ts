import { expect, it } from 'vitest'
import { breachRange, rangeHolds } from '../../src/crypto/common-passwords.js'
import { standardWebhookSignature, webhookSignature } from '../../src/crypto/secrets.js'

const suffix = '1E4C9B93F3F0682250B6CF8331B7EE68FD8'

it('five digits of a password’s SHA-1 leave, and the rest stays', () => {
  expect(breachRange('password')).toEqual({ prefix: '5BAA6', suffix })
  // Of its UTF-8 bytes.
  expect(breachRange('pässword').prefix).toBe('23B74')
})

it.each([
  [`${suffix}:3`, true],
  [`${suffix.toLowerCase()}:10`, true],
  [`${'0'.repeat(35)}:1\r\n${suffix}:1\r\n`, true],
  [`${'0'.repeat(35)}:1\n${suffix}:1`, true],
  [`${suffix}:0`, false],
  [`${'0'.repeat(35)}:9`, false],
  ['', null],
  ['<html>', null],
  [`${suffix}:`, null],
  [`${suffix}:1x`, null],
  [`x${suffix}:1`, null],
  [`${suffix}:1\n${suffix.slice(1)}:1`, null],
])('of the reply %j it is said: %s', (reply, holds) => {
  expect(rangeHolds(reply, suffix)).toBe(holds)
})

it('a webhook is signed by RFC 2104, in hexadecimal', () => {
  // Test case 2 of RFC 4231.
  const digest = '5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843'
  expect(webhookSignature(['Jefe'], 'what do ya want for nothing?')).toBe(`sha256=${digest}`)
  const signed = (...secrets: readonly string[]) => webhookSignature(secrets, 'a body')
  expect(signed('new', '', 'old')).toBe(`${signed('new')},${signed('old')}`)
  expect(signed('', '')).toBe('')
})

it('signs as Standard Webhooks has it: the vector of its libraries, and each secret that is set', () => {
  const body = '{"test": 2432232314}'
  const event = { id: 'msg_p5jXN8AQM9LWM0D4loKWxJek', timestamp: 1_614_265_330, body }
  const signature = 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE='
  const secret = 'MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'
  const signed = (...secrets: readonly string[]) => standardWebhookSignature(secrets, event)
  expect(signed(`whsec_${secret}`)).toBe(signature)
  expect(signed(secret)).not.toBe(signature)
  expect(signed(secret, '', `whsec_${secret}`)).toBe(`${signed(secret)} ${signature}`)
})
