import { describe, expect, it } from 'vitest'
import { networkOf } from '../../src/engine/addresses.js'
import { readHead, type TrustProxy, trustedProxies } from '../../src/http/incoming-request.js'

/** Who asked, by what a request tells of it. */
const peerOf = (
  trust: TrustProxy,
  remoteAddress: string | undefined,
  forwardedFor?: string,
  forwardedHost?: string,
) => {
  const headers: Readonly<Record<string, string | undefined>> = {
    'x-forwarded-for': forwardedFor,
    'x-forwarded-host': forwardedHost,
  }
  return trustedProxies(trust)({ remoteAddress, header: (name) => headers[name] })
}

const peer = '203.0.113.9'

describe('the address of the caller', () => {
  it.each<[string, TrustProxy, string | undefined, string | undefined, string | null]>([
    // Nobody is believed.
    ['no proxy trusted, no header', false, peer, undefined, peer],
    ['no proxy trusted, a forged header', false, peer, '198.51.100.1', peer],
    ['no hop trusted', 0, peer, '198.51.100.1', peer],
    ['no network trusted', [], peer, '198.51.100.1', peer],
    ['the peer is outside the network', ['10.0.0.0/8'], peer, '198.51.100.1', peer],
    // Hops: the proxy nearest to us appends what it saw.
    ['one hop', 1, '10.0.0.1', '198.51.100.1', '198.51.100.1'],
    ['one hop, the rest forged', 1, '10.0.0.1', '1.1.1.1, 8.8.8.8, 198.51.100.1', '198.51.100.1'],
    ['two hops', 2, '10.0.0.1', '1.1.1.1, 198.51.100.1, 10.0.0.2', '198.51.100.1'],
    ['more hops than addresses', 5, '10.0.0.1', '198.51.100.1, 10.0.0.2', '198.51.100.1'],
    ['a hop that adds nothing', 1, '10.0.0.1', undefined, '10.0.0.1'],
    ['a hop behind a Unix socket', 1, undefined, '198.51.100.1', '198.51.100.1'],
    // Networks: believed as far as the chain is of trusted hosts.
    ['a trusted peer', ['10.0.0.0/8'], '10.1.2.3', '198.51.100.1', '198.51.100.1'],
    ['a chain', ['10.0.0.0/8'], '10.1.2.3', '1.1.1.1, 198.51.100.1, 10.9.9.9', '198.51.100.1'],
    ['only trusted hosts', ['10.0.0.0/8'], '10.1.2.3', '10.7.7.7, 10.9.9.9', '10.7.7.7'],
    ['one address', ['10.1.2.3'], '10.1.2.3', '198.51.100.1', '198.51.100.1'],
    ['the neighbour of one address', ['10.1.2.3'], '10.1.2.4', '198.51.100.1', '10.1.2.4'],
    ['two networks', ['10.0.0.0/8', 'fd00::/8'], 'fd00::1', '1.1.1.1, 10.1.1.1', '1.1.1.1'],
    ['IPv6', ['::1', '2001:db8::/32'], '2001:DB8::5', '2001:4860::8', '2001:4860::8'],
    ['a mapped peer', ['10.0.0.0/8'], '::ffff:10.1.2.3', '198.51.100.1', '198.51.100.1'],
    ['a mapped peer that nobody trusts', false, '::FFFF:203.0.113.9', undefined, peer],
    ['a mapped peer, spelled in hexadecimal', false, '::ffff:cb00:7109', undefined, peer],
    ['a mapped peer, spelled in full', false, '0:0:0:0:0:ffff:cb00:7109', undefined, peer],
    ['a mapped peer outside the network', ['10.0.0.0/8'], '::ffff:203.0.113.9', '1.1.1.1', peer],
    // Spellings in the header.
    ['spaces and tabs', 1, peer, ' \t198.51.100.1 ', '198.51.100.1'],
    ['a port', 1, peer, '198.51.100.1:4711', '198.51.100.1'],
    ['a bracketed IPv6 with port', 1, peer, '[2001:db8::1]:4711', '2001:db8::1'],
    ['a bracketed IPv6', 1, peer, '[2001:db8::1]', '2001:db8::1'],
    ['a mapped address', 1, peer, '::ffff:198.51.100.1', '198.51.100.1'],
    ['a zone', 1, peer, 'fe80::1%eth0', 'fe80::1'],
    // What is no address ends the chain: what lies behind it is anybody's guess.
    ['nothing', 1, peer, '', peer],
    ['only commas', 2, peer, ',,,', peer],
    ['a name', 1, peer, 'localhost', peer],
    ['"unknown"', 1, peer, 'unknown', peer],
    ['an obfuscated name', 1, peer, '_hidden', peer],
    ['five numbers', 1, peer, '1.2.3.4.5', peer],
    ['a number out of range', 1, peer, '256.1.1.1', peer],
    ['leading zeros', 1, peer, '010.001.001.001', peer],
    ['a short form', 1, peer, '127.1', peer],
    ['a number', 1, peer, '2130706433', peer],
    ['half a bracket', 1, peer, '[1.2.3.45', peer],
    ['text after the bracket', 1, peer, '[2001:db8::1]evil', peer],
    ['a port that is none', 1, peer, '198.51.100.1:http', peer],
    ['two colons in IPv4', 1, peer, '198.51.100.1:1:2', peer],
    ['another header’s form', 1, peer, 'for=198.51.100.1', peer],
    ['garbage behind an address', 2, peer, '<script>, 198.51.100.1', '198.51.100.1'],
    ['garbage before an address', 2, peer, '198.51.100.1, <script>', peer],
    ['an address past garbage', 3, peer, '1.1.1.1, x, 10.0.0.1', '10.0.0.1'],
    ['a text without end', 1, peer, `${'1'.repeat(100_000)}.1.1.1`, peer],
    // The socket may not tell.
    ['no peer', false, undefined, '198.51.100.1', null],
    ['no peer, a network trusted', ['10.0.0.0/8'], undefined, '198.51.100.1', null],
    ['a peer that is no address', false, '/run/http.sock', undefined, null],
  ])('%s', (_what, trust, remoteAddress, forwardedFor, expected) => {
    expect(peerOf(trust, remoteAddress, forwardedFor).ip).toBe(expected)
  })

  it('takes a long header without effort', () => {
    const header = new Array(100_000).fill('10.0.0.1').join(',')
    const { ip } = peerOf(['10.0.0.0/8'], '10.0.0.2', `198.51.100.1,${header}`)
    expect(ip).toBe('198.51.100.1')
  })

  it.each<[TrustProxy]>([
    [-1],
    [1.5],
    [Number.NaN],
    [['']],
    [['localhost']],
    [['10.0.0.0/33']],
    [['::/129']],
    [['10.0.0.0/']],
    [['0.0.0.0/0']],
    [['10.0.0.0/8', '::/0']],
    [['10.0.0.0/8/8']],
    [['10.0.0.0/-1']],
    [['10.0.0.0/0x8']],
    [['10.0.0.0/255.0.0.0']],
    [['10.0.0.0/8 ']],
  ])('refuses to trust %j', (trust) => {
    expect(() => trustedProxies(trust)).toThrow(RangeError)
  })
})

describe('what limits count by', () => {
  it.each([
    ['198.51.100.1', '198.51.100.1'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:db8:1:2::', '2001:db8:1:2::/64'],
    ['2001:0DB8:0001:0002:FFFF::1', '2001:db8:1:2::/64'],
    ['2001:db8::1', '2001:db8:0:0::/64'],
    ['2001:db8::', '2001:db8:0:0::/64'],
    ['::1', '0:0:0:0::/64'],
    ['::', '0:0:0:0::/64'],
    ['1::2:3:4:5:6:7', '1:0:2:3::/64'],
    ['64:ff9b::192.0.2.1', '64:ff9b:0:0::/64'],
    ['1:2:3:4:5:6:192.0.2.1', '1:2:3:4::/64'],
  ])('%s is %s', (address, subject) => {
    expect(networkOf(address)).toBe(subject)
  })

  it('shares one count among those without an address', () => {
    expect(networkOf(null)).toBe('unknown')
  })

  it('counts one customer’s addresses together, two customers’ apart', () => {
    const count = (address: string) => networkOf(peerOf(false, address).ip)
    expect(count('2001:db8:1:2::1')).toBe(count('2001:DB8:1:2:ffff:ffff:ffff:ffff'))
    expect(count('2001:db8:1:2::1')).not.toBe(count('2001:db8:1:3::1'))
    expect(count('::ffff:198.51.100.1')).toBe(count('198.51.100.1'))
    expect(count('::ffff:c633:6401')).toBe(count('198.51.100.1'))
    expect(count('198.51.100.1')).not.toBe(count('198.51.100.2'))
  })
})

describe('the host that a trusted proxy forwards', () => {
  const [cdn, balancer, client] = ['10.0.0.2', '10.0.0.1', '198.51.100.1']

  it.each<[string, TrustProxy, string, string | undefined, string | undefined, string | undefined]>(
    [
      ['no proxy trusted', false, balancer, client, 'a.example', undefined],
      ['no hop trusted', 0, balancer, client, 'a.example', undefined],
      ['a peer outside the network', ['10.0.0.0/8'], peer, client, 'a.example', undefined],
      ['no header', 1, balancer, client, undefined, undefined],
      ['one hop', 1, balancer, client, 'a.example', 'a.example'],
      [
        'one hop that says nothing of the address',
        1,
        balancer,
        undefined,
        'a.example',
        'a.example',
      ],
      ['one hop that appends', 1, balancer, client, 'forged.example, a.example', 'a.example'],
      ['a trusted peer', ['10.0.0.0/8'], balancer, client, 'forged.example,a.example', 'a.example'],
      ['two hops', 2, balancer, `${client}, ${cdn}`, 'a.example', 'a.example'],
      ['two hops that append', 2, balancer, `${client}, ${cdn}`, 'x, a.example, cdn', 'a.example'],
      ['a chain', ['10.0.0.0/8'], balancer, `${client}, ${cdn}`, 'x, a.example, cdn', 'a.example'],
    ],
  )('%s', (_what, trust, remote, forwardedFor, header, expected) => {
    expect(peerOf(trust, remote, forwardedFor, header).host).toBe(expected)
  })
})

it.each(['["a","b"]', '7', 'null', '{}'])(
  'a header that middleware of the host made %s counts as absent',
  (json) => {
    const header = (): string => JSON.parse(json)
    const head = readHead({ method: 'GET', header, remoteAddress: peer }, trustedProxies(1))
    expect(head).toEqual({
      ...{ method: 'GET', headers: {}, cookies: new Map(), host: undefined },
      ...{ forwardedHost: undefined, source: { ip: peer, userAgent: null } },
    })
  },
)
