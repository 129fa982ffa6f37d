import { describe, it } from 'vitest'
import { expectGivenUp, rowsOf } from './overtaken-write.js'
import { sessionWrites } from './writes/session-writes.js'

describe('a write of a session whose document another process changes just before', () => {
  it.each(rowsOf(sessionWrites))('is given up: $name ($field)', expectGivenUp)
})
