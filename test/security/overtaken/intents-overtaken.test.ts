import { describe, it } from 'vitest'
import { expectGivenUp, rowsOf } from './overtaken-write.js'
import { intentWrites } from './writes/intent-writes.js'

describe('a write of an intent whose document another process changes just before', () => {
  it.each(rowsOf(intentWrites))('is given up: $name ($field)', expectGivenUp)
})
