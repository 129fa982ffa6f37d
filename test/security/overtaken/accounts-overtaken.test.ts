import { describe, it } from 'vitest'
import { expectGivenUp, rowsOf } from './overtaken-write.js'
import { accountWrites } from './writes/account-writes.js'

describe('a write of an account whose document another process changes just before', () => {
  it.each(rowsOf(accountWrites))('is given up: $name ($field)', expectGivenUp)
})
