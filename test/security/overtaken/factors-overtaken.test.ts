import { describe, it } from 'vitest'
import { expectGivenUp, rowsOf } from './overtaken-write.js'
import { factorWrites } from './writes/factor-writes.js'

describe('a write of a factor whose document another process changes just before', () => {
  it.each(rowsOf(factorWrites))('is given up: $name ($field)', expectGivenUp)
})
