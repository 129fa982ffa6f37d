import { describe, expect, it } from 'vitest'
import { isListedTarget, withFragment, withQuery } from '../../src/engine/addresses.js'

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
