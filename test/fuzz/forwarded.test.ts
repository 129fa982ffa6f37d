import { isIP } from 'node:net'
import { expect } from 'vitest'
import { readHost, trustedProxies } from '../../src/http/incoming-request.js'
import { changedText } from './changed.js'
import { fuzz } from './fuzz.js'

const addresses = [
  ...['198.51.100.1', '10.0.0.1, 198.51.100.1', '[2001:db8::1]:443', '::ffff:192.0.2.1', 'x'],
]
const oneProxy = trustedProxies(1)
const networks = trustedProxies(['10.0.0.0/8', '127.0.0.1'])
/** A request through a proxy that wrote this header and no other. */
const sent = (name: string, text: string) => ({
  remoteAddress: '127.0.0.1',
  header: (asked: string) => (asked === name ? text : undefined),
})
const behindOne = (text: string) => oneProxy(sent('x-forwarded-for', text)).ip
const behindNetwork = (text: string) => networks(sent('x-forwarded-for', text)).ip
const hostBehindOne = (text: string) => oneProxy(sent('x-forwarded-host', text)).host

fuzz({
  name: 'a forwarded address, which is an address, and the one of the nearest proxy',
  input: (draw) => changedText(draw, addresses),
  takes(text) {
    const ip = behindOne(text)
    expect(ip === null ? 0 : isIP(ip)).toBeGreaterThan(0)
    if (ip !== '127.0.0.1') expect(behindOne(`192.0.2.66, ${text}`)).toBe(ip)
    return ip !== '127.0.0.1'
  },
})

fuzz({
  name: 'the address before the trusted networks, behind which none is believed',
  input: (draw) => changedText(draw, ['198.51.100.9, 10.0.0.1', '203.0.113.7, 198.51.100.9']),
  takes(text) {
    const ip = behindNetwork(text)
    expect(ip === null ? 0 : isIP(ip)).toBeGreaterThan(0)
    const forged = `192.0.2.66, ${text}`
    // What a client writes before it changes nothing, unless all behind it is the proxies' own.
    if (ip !== null && !ip.startsWith('10.') && ip !== '127.0.0.1') {
      expect(behindNetwork(forged)).toBe(ip)
    }
    return ip !== '127.0.0.1'
  },
})

fuzz({
  name: 'a forwarded host, which is what the nearest proxy wrote',
  input: (draw) =>
    changedText(draw, ['app.example.com', 'evil.example, app.example.com', 'a:8080']),
  takes(text) {
    const host = hostBehindOne(text)
    expect(host).toBe(text.split(',').at(-1)?.trim())
    expect(hostBehindOne(`evil.example,${text}`)).toBe(host)
    const read = readHost(host)
    if (read === null) return false
    expect(read.name).toMatch(/^(?:[a-z0-9_][\w.-]*|\[[\da-f:.]+\])$/)
    expect(read.name.endsWith('.')).toBe(false)
    expect(read.port).toMatch(/^\d{0,5}$/)
    expect(readHost(read.port === '' ? read.name : `${read.name}:${read.port}`)).toEqual(read)
    return true
  },
})
