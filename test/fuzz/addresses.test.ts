import { expect } from 'vitest'
import { canonicalEmail, isListedTarget } from '../../src/engine/addresses.js'
import { changedText } from './changed.js'
import { fuzz } from './fuzz.js'

fuzz({
  name: 'an address, whose form is plain and its own',
  input: (draw) =>
    changedText(draw, [
      ...['ada@example.org', ' ADA@Example.ORG ', 'a.b+c@x-y.example'],
      ...['"a"@b.cd', 'a@b@c.de'],
    ]),
  takes(text) {
    const email = canonicalEmail(text)
    if (email === null) return false
    expect(email).toMatch(/^[a-z0-9!#$%&'*+/=?^_`{|}~.-]+@[a-z0-9.-]+$/)
    expect([email.length <= 254, canonicalEmail(email)]).toEqual([true, email])
    return true
  },
})

const listed = [
  { uri: 'https://app.example.com/in', surface: 'client', flow: 'web' },
  { uri: 'https://app.example.com/in?to=a', surface: 'client', flow: 'web' },
  { uri: 'com.example.app:/in', surface: 'client', flow: 'mobile' },
  { uri: 'https://admin.example.com/', surface: 'operator', flow: 'web' },
] as const

fuzz({
  name: 'a redirect target, which is a listed one of this surface and flow',
  input: (draw) =>
    changedText(
      draw,
      listed.map(({ uri }) => uri),
    ),
  takes(uri) {
    if (!isListedTarget(listed, { uri, surface: 'client', flow: 'web' })) return false
    expect(listed.slice(0, 2).map((one) => one.uri)).toContain(uri)
    return true
  },
})
