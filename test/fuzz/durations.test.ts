import { expect } from 'vitest'
import { formatDuration, parseDuration } from '../../src/engine/duration.js'
import { changedText } from './changed.js'
import { fuzz } from './fuzz.js'

fuzz({
  name: 'a duration, which is a whole number that is written back',
  input: (draw) =>
    changedText(draw, [
      ...['15m', '1h30m', '720h', '250ms', '86400', '1d2h3m4s5ms', '9007199254740991ms'],
    ]),
  takes(text) {
    const ms = parseDuration(text)
    if (ms === null) return false
    expect(Number.isSafeInteger(ms) && ms >= 0).toBe(true)
    expect(parseDuration(formatDuration(ms))).toBe(ms)
    return true
  },
})
