import { describe, expect, it } from 'vitest'
import { isPublicAddress } from '../../src/system/public-address.js'

const notPublic = [
  ...['0.0.0.0', '10.1.2.3', '100.64.0.1', '100.127.255.254', '127.0.0.1', '127.255.255.255'],
  ...['169.254.169.254', '172.16.0.1', '172.31.255.255', '192.0.0.8', '192.0.2.1', '192.168.1.1'],
  ...['198.18.0.1', '198.19.255.255', '198.51.100.7', '203.0.113.9', '224.0.0.1', '240.0.0.1'],
  '255.255.255.255',
  ...['::', '::1', '::ffff:127.0.0.1', '::ffff:10.0.0.1', '::ffff:7f00:1', '::127.0.0.1'],
  ...['64:ff9b::7f00:1', '64:ff9b:1::1', '100::1', 'fc00::1', 'fd12:3456::1', 'fe80::1', 'fec0::1'],
  ...['ff02::1', '2001::1', '2001:db8::1', '2002:7f00:1::', '2002:a00:1::1', '3fff::1', '5f00::1'],
]

const isPublic = [
  ...['1.1.1.1', '8.8.8.8', '9.255.255.255', '11.0.0.0', '100.63.255.255', '100.128.0.0'],
  ...['172.15.255.255', '172.32.0.0', '192.167.255.255', '192.169.0.0', '223.255.255.255'],
  ...['2606:4700:4700::1111', '2a00:1450:4001::200e', '2001:4860:4860::8888'],
]

describe('isPublicAddress', () => {
  it.each(notPublic)('SS-1 ASVS-1.3.6 %s is not public', (address) => {
    expect(isPublicAddress(address)).toBe(false)
  })

  it.each(isPublic)('SS-1 %s is public', (address) => {
    expect(isPublicAddress(address)).toBe(true)
  })

  it.each(['localhost', 'example.org', '', '127.1', '0x7f.0.0.1', '[::1]', '1.1.1.1:80'])(
    'SS-1 %j is no address',
    (text) => {
      expect(isPublicAddress(text)).toBe(false)
    },
  )
})
