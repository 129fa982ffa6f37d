import { expect } from 'vitest'
import { cookiesIn, flowKeysIn, onlyCookie } from '../../src/http/cookies.js'
import { changedText } from './changed.js'
import { fuzz } from './fuzz.js'

fuzz({
  name: 'a cookie, which is the only one of its name',
  input: (draw) =>
    changedText(draw, [
      ...['__Host-cl_refresh=a.b.c', 'x=1; __Host-cl_refresh=a.b.c; y="2"', 'a=b;c=d'],
    ]),
  takes(text) {
    const cookies = cookiesIn(text)
    const value = onlyCookie(cookies, '__Host-cl_refresh')
    if (value === null) return false
    const named = text.split(';').filter((pair) => /^[ \t]*__Host-cl_refresh[ \t]*=/.test(pair))
    expect(named).toHaveLength(1)
    expect(value).not.toMatch(/;|^[ \t]|[ \t]$/)
    expect(cookies.get('__Host-cl_refresh')).toEqual([value])
    return true
  },
})

const flow = 'abcdefghijklmnop'

fuzz({
  name: 'the cookies of flows, each of which is there once',
  input: (draw) =>
    changedText(draw, [
      ...[`__Host-cl_oauth_${flow}=k1`, `a=b; __Host-cl_oauth_form_${flow}=k2`],
      `__Host-cl_oauth_${flow}=k1; __Host-cl_oauth_${flow.replace('a', '-')}=k3`,
    ]),
  takes(text) {
    const cookies = cookiesIn(text)
    const found = flowKeysIn(cookies, '__Host-cl_oauth_')
    for (const { mode, flow: named, key } of found) {
      expect(named).toMatch(/^[\w-]{16}$/)
      const name = `__Host-cl_oauth_${mode === 'form_post' ? 'form_' : ''}${named}`
      expect(cookies.get(name)).toEqual([key])
      expect(key).not.toBe('')
    }
    return found.length > 0
  },
})
