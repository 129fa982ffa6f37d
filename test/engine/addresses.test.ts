import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  canonicalEmail,
  domainOf,
  ipv6Groups,
  isAppOrigin,
  isDomainAllowed,
  isListedTarget,
  isLocalHost,
  isUndeliverable,
  siteOf,
  withFragment,
  withQuery,
} from '../../src/engine/addresses.js'

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

const x = (count: number): string => 'x'.repeat(count)
/** A domain of this many characters, a multiple of 10 plus 3. */
const longDomain = (length: number): string => `${`${x(9)}.`.repeat((length - 3) / 10)}org`

describe('canonicalEmail', () => {
  it.each([
    ['ada@example.org', 'ada@example.org'],
    ['ADA@EXAMPLE.ORG', 'ada@example.org'],
    [' \tada@example.org\r\n', 'ada@example.org'],
    ['\u00A0ada@example.org\uFEFF', 'ada@example.org'],
    ['ada.b+tag@example.org', 'ada.b+tag@example.org'],
    ["!#$%&'*+/=?^_`{|}~-@example.org", "!#$%&'*+/=?^_`{|}~-@example.org"],
    ['1@2.co', '1@2.co'],
    ['a@xn--mller-kva.example', 'a@xn--mller-kva.example'],
    [`${x(64)}@example.org`, `${x(64)}@example.org`],
    [`a@${x(63)}.org`, `a@${x(63)}.org`],
    [`a@${longDomain(243)}`, `a@${longDomain(243)}`],
    [`${x(10)}@${longDomain(243)}`, `${x(10)}@${longDomain(243)}`],
    [`${' '.repeat(306)}a@example.org`.padEnd(320), 'a@example.org'],
  ])('writes %j as %j', (typed, canonical) => {
    expect(canonicalEmail(typed)).toBe(canonical)
  })

  it.each([
    ['nothing', ''],
    ['no at', 'ada.example.org'],
    ['no local part', '@example.org'],
    ['a Kelvin sign at its end', 'ada@example.or\u212A'],
    ['more than 320 characters', 'a@example.org'.padEnd(321)],
    ['more than 254 characters without the space', `${x(11)}@${longDomain(243)}`],
    ['no domain', 'ada@'],
    ['a domain without a dot', 'ada@localhost'],
    ['two ats', 'ada@x@example.org'],
    ['a quoted local part', '"ada"@example.org'],
    ['a comment', 'ada(x)@example.org'],
    ['a name around it', 'Ada <ada@example.org>'],
    ['a list', 'ada@example.org,bob@example.org'],
    ['a second line', 'ada@example.org\nbcc: bob@example.org'],
    ['a line break in the middle', 'ada\r\n@example.org'],
    ['a space in the middle', 'ada @example.org'],
    ['a NUL', 'ada\0@example.org'],
    ['a leading dot', '.ada@example.org'],
    ['a trailing dot', 'ada.@example.org'],
    ['two dots', 'ada..b@example.org'],
    ['a trailing dot of the domain', 'ada@example.org.'],
    ['an empty label', 'ada@example..org'],
    ['a leading hyphen', 'ada@-example.org'],
    ['a trailing hyphen', 'ada@example-.org'],
    ['an underscore in the domain', 'ada@ex_ample.org'],
    ['an address literal', 'ada@[127.0.0.1]'],
    ['a percent sign in the domain', 'ada@example.org%00.test'],
    ['a letter of another script', 'аda@example.org'],
    ['a domain of another script', 'ada@exаmple.org'],
    ['an umlaut', 'ädа@example.org'],
    ['full-width letters', 'ａda@example.org'],
    ['an ideographic full stop', 'ada@example。org'],
    ['a full-width at', 'ada＠example.org'],
    ['a sign that lower-cases to a plain k', '\u212Aate@example.org'],
    ['a dotted capital I', 'ad\u0130@example.org'],
    ['an invisible letter', 'a\u200Bda@example.org'],
    ['a lone surrogate', 'ada\uD800@example.org'],
    ['a local part of 65 characters', `${x(65)}@example.org`],
    ['a label of 64 characters', `a@${x(64)}.org`],
    ['255 characters', `${x(11)}@${longDomain(243)}`],
    ['321 characters of blanks and an address', `${' '.repeat(306)}ada@example.org`],
  ])('refuses %s', (_, typed) => {
    expect(canonicalEmail(typed)).toBeNull()
  })

  const odd = fc.constantFrom(
    '@',
    '.',
    '-',
    '+',
    ' ',
    '\t',
    'K',
    '\u212A',
    'İ',
    'ß',
    'ﬁ',
    'a',
    'Z',
    '0',
  )
  const texts = fc.oneof(
    fc.emailAddress(),
    fc.string({ unit: 'binary' }),
    fc.array(odd, { maxLength: 40 }).map((signs) => signs.join('')),
    fc.emailAddress().map((email) => ` ${email.toUpperCase()}\n`),
  )

  it('is idempotent, and what it accepts is plain', () => {
    fc.assert(
      fc.property(texts, (typed) => {
        const canonical = canonicalEmail(typed)
        if (canonical === null) return
        expect(canonicalEmail(canonical)).toBe(canonical)
        expect(canonical).toMatch(/^[!-~]+@[a-z0-9.-]+$/)
        expect(canonical).toBe(canonical.toLowerCase())
        expect(canonical.length).toBeLessThanOrEqual(254)
        expect(canonical.split('@')).toHaveLength(2)
      }),
      { numRuns: 2000 },
    )
  })

  it('makes no two spellings of one address differ, nor one of two addresses', () => {
    fc.assert(
      fc.property(fc.emailAddress(), (email) => {
        const canonical = canonicalEmail(email)
        fc.pre(canonical !== null)
        expect(canonicalEmail(email.toUpperCase())).toBe(canonical)
        expect(canonicalEmail(` ${email.toLowerCase()} `)).toBe(canonical)
        expect(canonicalEmail(`x${email}`)).not.toBe(canonical)
      }),
    )
  })

  it('takes no time over the longest of texts', () => {
    const before = performance.now()
    for (const part of ['a.', 'a', '.', '@', 'a@', '-']) {
      canonicalEmail(part.repeat(100_000))
      canonicalEmail(part.repeat(160).slice(0, 320))
    }
    expect(performance.now() - before).toBeLessThan(1000)
  })
})

describe('isUndeliverable', () => {
  it.each([
    ['a@machines.invalid', true],
    ['a@x.y.invalid', true],
    ['a@invalid.org', false],
    ['invalid@example.org', false],
    ['a@notinvalid', false],
  ])('judges %s: %s', (email, undeliverable) => {
    expect(isUndeliverable(email)).toBe(undeliverable)
  })
})

describe('domainOf', () => {
  it('is what follows the last at', () => {
    expect(domainOf('ada@sub.example.org')).toBe('sub.example.org')
  })
})

describe('isDomainAllowed', () => {
  const one = { domain: 'Example.org', includeSubdomains: false }
  const tree = { domain: 'example.net', includeSubdomains: true }
  const spaced = { domain: ' Example.org ', includeSubdomains: false }
  const damaged = { domain: '', includeSubdomains: true }

  it.each([
    ['anything without a list', 'a@anywhere.test', [], true],
    ['the domain itself', 'a@example.org', [one], true],
    ['a subdomain that was not asked for', 'a@x.example.org', [one], false],
    ['the root of a tree', 'a@example.net', [tree], true],
    ['a leaf of a tree', 'a@x.y.example.net', [tree], true],
    ['a domain that ends alike', 'a@badexample.net', [tree], false],
    ['a domain that begins alike', 'a@example.net.evil.test', [tree], false],
    ['one of several', 'a@example.net', [one, tree], true],
    ['what an entry with space around it says', 'a@example.org', [spaced], true],
    ['nothing by a damaged entry', 'a@example.org', [damaged], false],
  ])('allows %s', (_, email, rules, allowed) => {
    expect(isDomainAllowed(email, rules)).toBe(allowed)
  })
})

const listed = [
  { uri: 'https://app.example.com/signed-in', surface: 'client', flow: 'web' },
  { uri: 'com.example.app:/signed-in', surface: 'client', flow: 'mobile' },
] as const

describe('a redirect target', () => {
  it('is one of the list, for the same surface and flow', () => {
    for (const target of listed) {
      expect(isListedTarget(listed, target)).toBe(true)
      const flow = target.flow === 'web' ? 'mobile' : 'web'
      expect(isListedTarget(listed, { ...target, flow })).toBe(false)
      expect(isListedTarget(listed, { ...target, surface: 'operator' })).toBe(false)
      for (const uri of [`${target.uri}/`, target.uri.toUpperCase(), `${target.uri}?`, '']) {
        expect(isListedTarget(listed, { ...target, uri })).toBe(false)
      }
    }
    expect(isListedTarget([], listed[0])).toBe(false)
  })

  it.each([
    ['https://app.example.com/x', {}, 'https://app.example.com/x'],
    ['https://app.example.com', { a: '1' }, 'https://app.example.com/?a=1'],
    [
      'https://app.example.com/x?y=%20z',
      { a: 'b&c=d' },
      'https://app.example.com/x?y=%20z&a=b%26c%3Dd',
    ],
    ['com.example.app:/x', { code: 'a b' }, 'com.example.app:/x?code=a+b'],
    ['https://bücher.example/ü', { a: '1' }, 'https://xn--bcher-kva.example/%C3%BC?a=1'],
  ])('%s takes %j along', (uri, members, expected) => {
    expect(withQuery(uri, members)).toBe(expected)
  })
})

describe('the address that a browser is sent to', () => {
  it('keeps its query, and gets no more of it than there is', () => {
    expect(withQuery('https://app.example.com/a?from=oauth', {})).toBe(
      'https://app.example.com/a?from=oauth',
    )
    expect(withQuery('https://app.example.com/a?from=oauth', { error: 'x y' })).toBe(
      'https://app.example.com/a?from=oauth&error=x+y',
    )
  })

  it('has members for the page alone in its fragment', () => {
    expect(withFragment('https://app.example.com/a?b=c', { ticket: 'x&y', status: 'z' })).toBe(
      'https://app.example.com/a?b=c#ticket=x%26y&status=z',
    )
  })
})

describe('the origin of an app', () => {
  const chrome = `chrome-extension://${'abcdefghijklmnop'.repeat(2)}`
  const firefox = 'moz-extension://0ee2a2a7-2f0c-4f0c-9c3e-0a1b2c3d4e5f'

  it.each([
    'capacitor://localhost',
    'ionic://localhost',
    'tauri://localhost',
    'capacitor://app.example.com',
    chrome,
    firefox,
  ])('%s', (origin) => {
    expect(isAppOrigin(origin)).toBe(true)
  })

  it.each([
    '',
    'null',
    'https://localhost',
    'app://localhost',
    'capacitor://',
    'capacitor://*',
    'capacitor://*.example.com',
    'capacitor://localhost/',
    'capacitor://localhost:80',
    'capacitor://me@localhost',
    'capacitor://-a.example.com',
    'capacitor://a..example.com',
    'Capacitor://localhost',
    'x-capacitor://localhost',
    'capacitor://localhost\n',
    `${chrome}a`,
    chrome.slice(0, -1),
    chrome.replace('abc', 'abq'),
    chrome.toUpperCase(),
    `${firefox}0`,
    firefox.replace('0ee', '0gg'),
    `${firefox} `,
  ])('not %j', (origin) => {
    expect(isAppOrigin(origin)).toBe(false)
  })
})
