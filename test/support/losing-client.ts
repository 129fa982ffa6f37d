import type { PostgresClient } from '../../adapters/postgres/index.js'

/** Passes everything on, and can lose an answer the way a connection that breaks loses it. */
export function losingClient(client: PostgresClient): {
  readonly client: PostgresClient
  loseNextAnswer(): void
} {
  let losing = false
  return {
    client: {
      async query(text, values) {
        const lost = losing
        losing = false
        const result = await client.query(text, values)
        if (lost) throw Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' })
        return result
      },
    },
    loseNextAnswer() {
      losing = true
    },
  }
}
