import { expect } from 'vitest'
import { parseForm, parseJson } from '../../src/http/request-input.js'
import { changedBytes, changedText } from './changed.js'
import { type Draw, fuzz } from './fuzz.js'

/** What it comes to, or null where it refuses as it should. */
function unlessRefused<T>(parse: () => T): T | null {
  try {
    return parse()
  } catch (error) {
    expect(error).toMatchObject({ code: 'invalid_request' })
    return null
  }
}

/** Mostly changed as a text, and sometimes into bytes that are none. */
function changed(draw: Draw, texts: readonly string[]): Uint8Array {
  const bytes = new TextEncoder().encode(changedText(draw, texts))
  return draw(5) === 0 ? changedBytes(draw, bytes) : bytes
}

/** All names of members in it, in the order in which they stand. */
function namesIn(value: unknown): readonly string[] {
  if (typeof value !== 'object' || value === null) return []
  const own = Array.isArray(value) ? [] : Object.keys(value)
  return [...own, ...Object.values(value).flatMap(namesIn)]
}

fuzz({
  name: 'a JSON body, which JSON.parse reads alike and has no member twice',
  input: (draw) =>
    changed(draw, [
      ...['{"email":"a@b.cd","password":"x"}', '[1,{"a":":"}]', '{"a":{"b":[]},"c":null}'],
      ...['{"a":1,"a":2}', '{"__proto__":{"b":1}}', '{"\\"":"\\\\"}', '{"a:":"{\\":"}'],
    ]),
  takes(bytes) {
    const value = unlessRefused(() => ({ of: parseJson(bytes) }))
    if (value === null) return false
    const text = new TextDecoder().decode(bytes)
    expect(value.of).toEqual(JSON.parse(text))
    // Without what is in strings, there is a colon for each name, and none is there twice.
    const bare = text.replaceAll(/"(?:[^"\\]|\\.)*"/g, '')
    expect(bare.split(':').length - 1).toBe(namesIn(value.of).length)
    expect(Object.getPrototypeOf({})).toBe(Object.prototype)
    return true
  },
})

fuzz({
  name: 'a form, whose members are texts and none is there twice',
  input: (draw) =>
    changed(draw, ['grant_type=client_credentials&scope=', 'a=%20&b=+', 'code=x&state=y&user=%7B']),
  takes(bytes) {
    const form = unlessRefused(() => parseForm(bytes))
    if (form === null) return false
    const text = new TextDecoder().decode(bytes)
    expect(Object.keys(form)).toHaveLength(text === '' ? 0 : text.split('&').length)
    expect(Object.values(form).every((one) => typeof one === 'string')).toBe(true)
    return true
  },
})
