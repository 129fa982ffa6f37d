import { describe, expect, it } from 'vitest'
import { networkOf, scoreLogin } from '../../src/engine/login-risk-rules.js'

const chrome = (version: string) =>
  `Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/${version} Safari/537.36`
const firefox = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0'
const home = { ip: '192.0.2.7', userAgent: chrome('120.0.0.0'), deviceId: null }
const abroad = { ...home, ip: '203.0.113.9' }
const other = { ...home, userAgent: firefox }

const score = (login: typeof home | { deviceId: string }, failedAttempts = 0, history = [home]) => {
  const { level, signals } = scoreLogin({ ...home, ...login, failedAttempts, history })
  return [level, ...signals].join(' ')
}

describe('S-58 the plain risk rule', () => {
  it.each([
    ['the same again', home, 0, 'low'],
    ['the same, mistyped twice', home, 2, 'low'],
    ['the same, guessed at', home, 3, 'low failedAttempts'],
    ['another network', abroad, 0, 'low newNetwork'],
    ['another network, mistyped twice', abroad, 2, 'low newNetwork'],
    ['another network, guessed at', abroad, 3, 'high newNetwork failedAttempts'],
    ['another device', other, 0, 'elevated newDevice'],
    ['another device, guessed at', other, 3, 'high newDevice failedAttempts'],
    ['a later version of the browser', { ...home, userAgent: chrome('121.0.1.2') }, 0, 'low'],
    ['no user agent', { ...home, userAgent: null }, 0, 'elevated newDevice'],
    ['no address', { ...home, ip: null }, 3, 'low failedAttempts'],
  ] as const)('%s', (_what, login, failedAttempts, expected) => {
    expect(score(login as typeof home, failedAttempts)).toBe(expected)
  })

  it('knows a trusted device whatever it calls itself', () => {
    const past = { ...home, deviceId: 'd' } as unknown as typeof home
    const login = { ...other, deviceId: 'd' } as unknown as typeof home
    expect(score(login, 0, [past])).toBe('low')
    expect(score({ ...login, deviceId: 'e' }, 0, [past])).toBe('elevated newDevice')
  })

  it('finds everything new where nothing is known', () => {
    expect(score(home, 0, [])).toBe('elevated newDevice newNetwork')
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
    expect(networkOf(ip)).toBe(network)
  })
})
