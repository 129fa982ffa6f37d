import { describe, expect, it } from 'vitest'
import { ipv6Groups, isLocalHost, siteOf } from '../../src/engine/addresses.js'

describe('the groups of an IPv6 address', () => {
  it.each([
    ['1:2:3:4:5:6:7:8', '1 2 3 4 5 6 7 8'],
    ['2001:0DB8::1', '2001 db8 0 0 0 0 0 1'],
    ['::', '0 0 0 0 0 0 0 0'],
    ['::1', '0 0 0 0 0 0 0 1'],
    ['fe80::', 'fe80 0 0 0 0 0 0 0'],
    ['::ffff:192.0.2.255', '0 0 0 0 0 ffff c000 2ff'],
    ['1:2:3:4:5:6:7::', '1 2 3 4 5 6 7 0'],
    ['::2:3:4:5:6:7:8', '0 2 3 4 5 6 7 8'],
  ])('%s', (ip, groups) => {
    expect(ipv6Groups(ip).join(' ')).toBe(groups)
  })
})

it('the site of an address is what one attacker has as a whole', () => {
  const all = [null, '192.0.2.77', '2001:db8:7:1::9', '2001:db8::1']
  expect(all.map(siteOf)).toEqual(['unknown', '192.0.2.0/24', '2001:db8:7::/48', '2001:db8:0::/48'])
})

it('a host is local by its whole name', () => {
  const local = ['localhost', '127.0.0.1', '[::1]', 'app.localhost', 'a.b-9.localhost']
  const not = ['localhost.example.org', 'mylocalhost', '127.0.0.10', '.localhost', '127a0.0.1']
  const more = ['x127.0.0.1', '[::1]x', 'A.localhost', 'app.localhostx', '127.0a0.1', '127.0.0a1']
  expect(local.filter((host) => !isLocalHost(host))).toEqual([])
  expect([...not, ...more].filter(isLocalHost)).toEqual([])
})
