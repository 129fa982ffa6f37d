import { isIP } from 'node:net'
import { expect, it } from 'vitest'
import { formatPhc, parsePhc } from '../../src/crypto/phc.js'
import { isSlug } from '../../src/engine/configuration/slug.js'
import { formatDuration, parseDuration } from '../../src/engine/duration.js'
import { canonicalEmail } from '../../src/engine/email.js'
import { isListedTarget } from '../../src/engine/redirect.js'
import { clientIp } from '../../src/http/client-ip.js'
import { readCookie } from '../../src/http/cookies.js'
import { parseForm } from '../../src/http/request/parse-form.js'
import { parseJson } from '../../src/http/request/parse-json.js'
import { randomOf } from '../reliability/random-of.js'

/** More with the variable `FUZZ_RUNS`, as 1000000 before a release. */
const runs = Number(process.env['FUZZ_RUNS'] ?? 20_000)
const seed = Number(process.env['FUZZ_SEED'] ?? 1)

interface Parser {
  readonly name: string
  /** What it takes, to begin with. */
  readonly seeds: readonly string[]
  /** Whether it takes a text; what it takes has to be safe, which `expect` says. */
  readonly takes: (text: string) => boolean
}

const behindOne = clientIp(1)
const listed = { uri: 'https://app.example.com/in', surface: 'client', flow: 'web' } as const

/** What it comes to, or null where it refuses as it should. */
function unlessRefused<T>(parse: () => T): T | null {
  try {
    return parse()
  } catch (error) {
    expect(error).toMatchObject({ code: 'invalid_request' })
    return null
  }
}

const parsers: readonly Parser[] = [
  {
    name: 'an address, whose form is plain and its own',
    seeds: ['ada@example.org', ' ADA@Example.ORG ', 'a.b+c@x-y.example', '"a"@b.cd', 'a@b@c.de'],
    takes(text) {
      const email = canonicalEmail(text)
      if (email === null) return false
      expect(email).toMatch(/^[a-z0-9!#$%&'*+/=?^_`{|}~.-]+@[a-z0-9.-]+$/)
      expect([email.length <= 254, canonicalEmail(email)]).toEqual([true, email])
      return true
    },
  },
  {
    name: 'a duration, which is a whole number that is written back',
    seeds: ['15m', '1h30m', '720h', '250ms', '86400', '1d2h3m4s5ms', '9007199254740991ms'],
    takes(text) {
      const ms = parseDuration(text)
      if (ms === null) return false
      expect(Number.isSafeInteger(ms) && ms >= 0).toBe(true)
      expect(parseDuration(formatDuration(ms))).toBe(ms)
      return true
    },
  },
  {
    name: 'a PHC string, which is read alike once it is written back',
    seeds: [
      '$argon2id$v=19$m=19456,t=2,p=1$c29tZXNhbHRzb21lc2FsdA$MTIzNDU2Nzg5MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTI',
      '$argon2i$v=19$m=64,t=1,p=1$c29tZXNhbHQ$MTIzNDU2Nzg5MDEyMzQ1Ng',
    ],
    takes(text) {
      const phc = parsePhc(text)
      if (phc === null) return false
      expect(parsePhc(formatPhc(phc))).toEqual(phc)
      expect(phc.memoryCost <= 1024 * 1024 && phc.timeCost <= 64 && phc.parallelism <= 16).toBe(
        true,
      )
      return true
    },
  },
  {
    name: 'a forwarded address, which is an address',
    seeds: ['198.51.100.1', '10.0.0.1, 198.51.100.1', '[2001:db8::1]:443', '::ffff:192.0.2.1', 'x'],
    takes(text) {
      const ip = behindOne('127.0.0.1', text)
      expect(ip === null ? 0 : isIP(ip)).toBeGreaterThan(0)
      return ip !== '127.0.0.1'
    },
  },
  {
    name: 'a cookie, which is the only one of its name',
    seeds: ['__Host-cl_refresh=a.b.c', 'x=1; __Host-cl_refresh=a.b.c; y="2"', 'a=b;c=d'],
    takes(text) {
      const value = readCookie(text, '__Host-cl_refresh')
      if (value === null) return false
      const named = text.split(';').filter((pair) => /^[ \t]*__Host-cl_refresh[ \t]*=/.test(pair))
      expect(named).toHaveLength(1)
      expect(value).not.toMatch(/;|^[ \t]|[ \t]$/)
      return true
    },
  },
  {
    name: 'a redirect target, which is the listed one and no other',
    seeds: [listed.uri],
    takes(text) {
      if (!isListedTarget([listed], { ...listed, uri: text })) return false
      expect(text).toBe(listed.uri)
      return true
    },
  },
  {
    name: 'a slug, which no key of a record list can be mistaken for',
    seeds: ['main', 'eu-west-1', 'a', '__items', 'a.b', '__proto__'],
    takes(text) {
      if (!isSlug(text)) return false
      expect(text).toMatch(/^[a-z0-9-]+$/)
      expect(text in {}).toBe(false)
      return true
    },
  },
  {
    name: 'a JSON body, which JSON.parse reads alike and has no member twice',
    seeds: ['{"email":"a@b.cd","password":"x"}', '[1,{"a":":"}]', '{"a":{"b":[]},"c":null}'],
    takes(text) {
      const bytes = new TextEncoder().encode(text)
      const value = unlessRefused(() => ({ of: parseJson(bytes) }))
      if (value === null) return false
      expect(value.of).toEqual(JSON.parse(new TextDecoder().decode(bytes)))
      expect(Object.getPrototypeOf({})).toBe(Object.prototype)
      return true
    },
  },
  {
    name: 'a form, whose members are texts and none is there twice',
    seeds: ['grant_type=client_credentials&scope=', 'a=%20&b=+', 'code=x&state=y&user=%7B%7D'],
    takes(text) {
      const form = unlessRefused(() => parseForm(new TextEncoder().encode(text)))
      if (form === null) return false
      expect(Object.keys(form)).toHaveLength(text === '' ? 0 : text.split('&').length)
      expect(Object.values(form).every((one) => typeof one === 'string')).toBe(true)
      return true
    },
  },
]

const odd = ['\0', '\r\n', '\t', ' ', '%', '%00', '\u00e9', '\uff20', '\u212a', '\ud800', '"', '\\']
const plain = ['a', 'Z', '0', '9', '.', '-', '_', '@', '=', '&', ';', ',', ':', '$', '/', '[', '{']

/** One to three changes of a seed: something put in, taken out, doubled, or turned upside down. */
function variant(random: (below: number) => number, seeds: readonly string[]): string {
  let text = seeds[random(seeds.length)] ?? ''
  for (let change = random(4); change > 0; change -= 1) {
    const at = random(text.length + 1)
    const end = at + random(4)
    const piece = [...odd, ...plain][random(odd.length + plain.length)] ?? ''
    const kind = random(5)
    if (kind === 0) text = text.slice(0, at) + piece + text.slice(at)
    else if (kind === 1) text = text.slice(0, at) + text.slice(end)
    else if (kind === 2) text = text.slice(0, at) + text.slice(at, end).repeat(2) + text.slice(end)
    else if (kind === 3) text = text.slice(0, at) + text.slice(at).toUpperCase()
    else text = text.slice(0, at) + (seeds[random(seeds.length)] ?? '').slice(random(8))
  }
  return text
}

it.each(parsers.map((one) => [one.name, one] as const))(
  'R24 whatever is taken for %s, is safe',
  (_name, { takes, seeds }) => {
    const next = randomOf(seed)
    const random = (below: number) => Math.floor(next() * below)
    let taken = 0
    let slowest = 0
    for (let run = 0; run < runs; run += 1) {
      const text = variant(random, seeds)
      const before = performance.now()
      if (takes(text)) taken += 1
      slowest = Math.max(slowest, performance.now() - before)
    }
    expect(taken).toBeGreaterThan(runs / 100)
    expect(slowest).toBeLessThan(1000)
  },
)
