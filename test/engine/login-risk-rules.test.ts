import { describe, expect, it } from 'vitest'
import { beginning, registrationKeys, registrationLifeMs } from '../../src/engine/accounts.js'
import {
  changedPlaces,
  clientMark,
  isSameClient,
  isSamePlace,
  isToldGuess,
  keptKeys,
  keysIn,
  loginNetworkOf,
  placeOf,
  recognitionIds,
  scoreLogin,
  surplusBeside,
} from '../../src/engine/login-risk-rules.js'

const chrome = (version: string) =>
  `Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/${version} Safari/537.36`
const firefox = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0'
const home = { ip: '192.0.2.7', userAgent: chrome('120.0.0.0'), deviceId: null }
const abroad = { ...home, ip: '203.0.113.9' }
const other = { ...home, userAgent: firefox }

interface Seen {
  readonly ip: string | null
  readonly userAgent: string | null
  readonly deviceId: string | null
  readonly recognitionHash?: string | null
}

const score = (login: Seen, failedAttempts = 0, history: readonly Seen[] = [home]) => {
  const { level, signals } = scoreLogin({ ...home, ...login, failedAttempts, history })
  return [level, ...signals].join(' ')
}

describe('the plain risk rule', () => {
  it.each([
    ['the same again', home, 0, 'low'],
    ['the same, mistyped twice', home, 2, 'low'],
    ['the same, guessed at', home, 3, 'low failedAttempts'],
    ['the same user agent in another network', abroad, 0, 'elevated newDevice newNetwork'],
    ['the same, mistyped twice', abroad, 2, 'elevated newDevice newNetwork'],
    ['the same, guessed at', abroad, 3, 'high newDevice newNetwork failedAttempts'],
    ['another device', other, 0, 'elevated newDevice'],
    ['another device, guessed at', other, 3, 'high newDevice failedAttempts'],
    ['a later version of the browser', { ...home, userAgent: chrome('121.0.1.2') }, 0, 'low'],
    ['no user agent', { ...home, userAgent: null }, 0, 'elevated newDevice'],
    ['no address', { ...home, ip: null }, 3, 'high newDevice failedAttempts'],
  ] as const)('%s', (_what, login, failedAttempts, expected) => {
    expect(score(login, failedAttempts)).toBe(expected)
  })

  it('knows a trusted device whatever it calls itself', () => {
    const past = { ...home, deviceId: 'd' }
    const login = { ...other, deviceId: 'd' }
    expect(score(login, 0, [past])).toBe('low')
    expect(score({ ...login, deviceId: 'e' }, 0, [past])).toBe('elevated newDevice')
  })

  it('knows a recognised device in every network, whatever it calls itself', () => {
    const past = { ...home, recognitionHash: 'h' }
    const login = { ...other, ...{ ip: abroad.ip, recognitionHash: 'h' } }
    expect(score(login, 0, [past])).toBe('low newNetwork')
    expect(score(login, 2, [past])).toBe('low newNetwork')
    expect(score(login, 3, [past])).toBe('high newNetwork failedAttempts')
    const unknown = { ...login, recognitionHash: 'i' }
    expect(score(unknown, 0, [past])).toBe('elevated newDevice newNetwork')
    const none = { ...login, recognitionHash: null }
    expect(score(none, 0, [{ ...home, recognitionHash: null }])).toBe(
      'elevated newDevice newNetwork',
    )
  })

  it('counts a user agent of another device in any network that is known', () => {
    const there = { ...other, ip: abroad.ip }
    expect(score(abroad, 0, [home, there])).toBe('low')
    expect(score({ ...home, ip: null }, 0, [{ ...home, ip: null }])).toBe('low')
  })

  it('finds everything new where nothing is known', () => {
    expect(score(home, 0, [])).toBe('elevated newDevice newNetwork')
  })

  it('keeps eight devices that look alike in one network, the newest', () => {
    const named = (recognitionHash: string, more = {}) => ({ ...home, recognitionHash, ...more })
    const alike = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i'].map((hash) => named(hash))
    const others = [named('x', { ip: abroad.ip }), named('y', { userAgent: firefox })]
    const history = [...others, ...alike]
    expect(surplusBeside(named('new'), history)).toEqual(alike.slice(7))
    expect(surplusBeside(named('c'), history)).toEqual(alike.slice(8))
    expect(surplusBeside(named('x', { ip: abroad.ip }), history)).toEqual([])
    expect(placeOf(named('a'))).toEqual(['a', '192.0.2'])
  })

  it.each([
    ['192.0.2.7', '192.0.2'],
    ['192.0.20.7', '192.0.20'],
    ['2001:db8:1:2::5', '2001:db8:1'],
    ['2001:0DB8:0001::', '2001:db8:1'],
    ['2001:db8::1', '2001:db8:0'],
    ['::1', '0:0:0'],
    ['1::', '1:0:0'],
    [null, null],
  ])('the network of %s is %s', (ip, network) => {
    expect(loginNetworkOf(ip)).toBe(network)
  })
})

it('a place is a device in a network', () => {
  const all = [home, abroad, other, { ...home, recognitionHash: 'h' }]
  expect(all.map((one) => isSamePlace(home, one))).toEqual([true, false, false, false])
  expect(placeOf({ ...home, ip: null })[1]).toBe('')
})

it('the device of a user agent is what is left without its versions, and empty without one', () => {
  const deviceOf = (userAgent: string | null) => placeOf({ ...home, userAgent })[0]
  expect(deviceOf('App/1.2.3b_4 (Phone 7; x) Kit/9-1')).toBe('App/ (Phone ; x) Kit/-')
  expect(deviceOf(null)).toBe('')
})

it('the owner is told of the third wrong guess, unless a mail about a lockout says as much', () => {
  const told = (mailed: boolean) => [2, 3, 4].map((number) => isToldGuess({ number, mailed }))
  expect([told(false), told(true)]).toEqual([
    [false, true, false],
    [false, false, false],
  ])
})

it.each([
  ['1:2::', '1:2:0'],
  ['1::', '1:0:0'],
  ['::', '0:0:0'],
  ['::5:6:7:8:9', '0:0:0'],
  ['::3:4:5:6:7:8', '0:0:3'],
  ['1::3:4:5:6:7:8', '1:0:3'],
  ['1::4:5:6:7:8', '1:0:0'],
  ['01:2:3:4:5:6:7:8', '1:2:3'],
])('the network of %s is %s', (ip, network) => {
  expect(loginNetworkOf(ip)).toBe(network)
})

it.each([
  ['c', ['n', 'a'], 'c', ['n', 'a'], []],
  ['c', ['n', 'a'], 'd', ['n', 'a'], []],
  ['c', ['n', 'a'], 'c', ['m', 'a'], ['network']],
  ['c', ['n', 'a'], 'c', ['n', 'b'], ['userAgent']],
  ['c', ['n', 'a'], 'c', ['m', 'b'], ['network', 'userAgent']],
  ['c', [], 'c', ['n', 'a'], []],
  ['c', ['n', 'a'], 'c', [], []],
  ['c', [], 'd', [], []],
] as const)('from %s at %j to %s at %j changed %j', (one, from, other, to, changed) => {
  const [before, now] = [clientMark(one, from), clientMark(other, to)]
  expect(changedPlaces(before, now)).toEqual(changed)
  expect(isSameClient(before, now)).toBe(one === other)
})

const key = (letter: string, length = 22) => letter.repeat(length)

describe('the keys that a browser keeps', () => {
  it('are those of the right form, each once, four at most', () => {
    expect(keysIn(null, 3)).toEqual([])
    expect(keysIn('', 3)).toEqual([])
    expect(keysIn('aaa.bb.cccc.d-_.e e.aaa.é12', 3)).toEqual(['aaa', 'd-_'])
    expect(keysIn('aa .!bb.cc9', 3)).toEqual(['cc9'])
    expect(keysIn('a.b.c.d.e', 1)).toEqual(['a', 'b', 'c', 'd'])
  })

  it('are looked for in the first kilobyte', () => {
    expect(keysIn(`${'.'.repeat(1021)}aaa`, 3)).toEqual(['aaa'])
    expect(keysIn(`${'.'.repeat(1022)}aaa`, 3)).toEqual([])
  })

  it('give way to newer ones', () => {
    expect(keptKeys('new', [])).toBe('new')
    expect(keptKeys('new', ['a', 'b', 'c', 'd'])).toBe('new.a.b.c')
  })

  it('are of 22 characters for recognition, of 43 for registrations', () => {
    const kept = [key('r'), key('k', 43), key('x', 21)].join('.')
    expect(recognitionIds(kept)).toEqual([key('r')])
    expect(registrationKeys(kept)).toEqual([key('k', 43)])
  })
})

describe('a link that makes an account', () => {
  it.each([
    [true, true, 'named'],
    [false, true, 'named'],
    [true, false, 'registered'],
    [false, false, 'ask'],
  ] as const)('registered here: %s, password named: %s: %s', (has, names, how) => {
    expect(beginning(has, names)).toBe(how)
  })

  it('lives as long as mails to its address are counted', () => {
    expect([registrationLifeMs(5, 3), registrationLifeMs(3, 5)]).toEqual([5, 5])
  })
})
