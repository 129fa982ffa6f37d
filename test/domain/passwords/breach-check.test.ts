import { createHash } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { createBreachCheck } from '../../../src/domain/hashing/password-hashes.js'
import type { OutboundReply, OutboundRequest } from '../../../src/ports/host.js'
import { fakeClock } from '../../../src/testing/fake-clock.js'

const sha1 = (text: string) => createHash('sha1').update(text).digest('hex').toUpperCase()
const filler = Array.from({ length: 800 }, (_, i) => `${sha1(`${i}`).slice(5)}:${(i % 9) + 1}`)
const ok = (...lines: string[]): OutboundReply => ({
  status: 200,
  body: [...filler, ...lines].join('\r\n'),
})
const listing = (password: string, count: number) => `${sha1(password).slice(5)}:${count}`

/** A service that gives these answers in turn; a string is a failure. */
function setUp(answers: readonly (OutboundReply | string)[], endpoint?: string) {
  const clock = fakeClock()
  const requests: OutboundRequest[] = []
  const fetcher = {
    async fetch(request: OutboundRequest) {
      const answer = answers[requests.length]
      requests.push(request)
      if (answer === undefined) throw new Error('Nothing more was expected')
      if (typeof answer === 'string') throw new Error(answer)
      return answer
    },
  }
  const options = endpoint === undefined ? {} : { endpoint }
  return { clock, requests, ...createBreachCheck({ fetcher, clock, ...options }) }
}

describe('breach check', () => {
  test('sends five digits of the SHA-1 and no more, padded, within 1.5 s', async () => {
    const { check, requests } = setUp([ok()])
    await check('password')
    expect(requests).toEqual([
      {
        url: 'https://api.pwnedpasswords.com/range/5BAA6',
        method: 'GET',
        headers: { 'Add-Padding': 'true', 'User-Agent': 'postern' },
        timeoutMs: 1_500,
        maxBytes: 262_144,
      },
    ])
    expect(JSON.stringify(requests)).not.toContain('1E4C9B93F3F0682250B6CF8331B7EE68FD8')
  })

  test.each([
    [
      'listed first',
      () => ({ status: 200, body: `${listing('pw', 3)}\r\n${filler.join('\r\n')}` }),
    ],
    ['listed last', () => ok(listing('pw', 1))],
    ['listed in lower case', () => ok(listing('pw', 12).toLowerCase())],
    ['listed once as padding and once for real', () => ok(listing('pw', 0), listing('pw', 5))],
    ['with plain line ends', () => ({ status: 200, body: `${listing('pw', 2)}\n${filler[0]}\n` })],
  ])('a password %s is breached', async (_, answer) => {
    expect(await setUp([answer()]).check('pw')).toBe('breached')
  })

  test.each([
    ['is not listed', () => ok()],
    ['is listed as padding', () => ok(listing('pw', 0))],
    [
      'shares all digits but the last',
      () => ok(`${sha1('pw').slice(5, 39)}${sha1('pw').endsWith('0') ? '1' : '0'}:1`),
    ],
    ['is the reverse case of another', () => ok(listing('PW', 9))],
  ])('a password that %s is clean', async (_, answer) => {
    expect(await setUp([answer()]).check('pw')).toBe('clean')
  })

  test('the NFC form is looked up', async () => {
    const { check, requests } = setUp([ok(listing('caf\u00e9', 1))])
    expect(await check('cafe\u0301')).toBe('breached')
    expect(requests[0]?.url).toBe(
      `https://api.pwnedpasswords.com/range/${sha1('caf\u00e9').slice(0, 5)}`,
    )
  })

  test('another endpoint can be used', async () => {
    const { check, requests } = setUp([ok()], 'http://localhost:9/range/')
    await check('password')
    expect(requests[0]?.url).toBe('http://localhost:9/range/5BAA6')
  })

  test.each<[string, OutboundReply | string]>([
    ['a failure of the network', 'ECONNREFUSED'],
    ['status 429', { ...ok(), status: 429 }],
    ['status 500', { ...ok(), status: 500 }],
    ['a redirect', { ...ok(), status: 302 }],
    ['an empty reply', { status: 200, body: '' }],
    ['a page', { status: 200, body: '<html>Sign in to the Wi-Fi</html>' }],
    ['a list cut off', { status: 200, body: ok().body.slice(0, -40) }],
  ])('%s is unavailable, and nothing is asked for 5 minutes', async (_, failure) => {
    const { check, clock, requests } = setUp([failure, ok(listing('pw', 1))])
    expect(await check('pw')).toBe('unavailable')
    await clock.advance(299_999)
    expect(await check('pw')).toBe('unavailable')
    expect(requests).toHaveLength(1)
    await clock.advance(1)
    expect(await check('pw')).toBe('breached')
    expect(requests).toHaveLength(2)
  })

  test('a second failure starts another 5 minutes; a success starts none', async () => {
    const { check, clock, requests } = setUp(['down', 'down', ok(), ok()])
    await check('pw')
    await clock.advance(300_000)
    expect(await check('pw')).toBe('unavailable')
    await clock.advance(299_999)
    expect(await check('pw')).toBe('unavailable')
    expect(requests).toHaveLength(2)
    await clock.advance(1)
    expect(await check('pw')).toBe('clean')
    expect(await check('pw')).toBe('clean')
    expect(requests).toHaveLength(4)
  })

  test('one instance’s failure does not pause another', async () => {
    const failing = setUp(['down'])
    await failing.check('pw')
    expect(await setUp([ok()]).check('pw')).toBe('clean')
  })
})
