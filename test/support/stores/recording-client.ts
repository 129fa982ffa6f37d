import type { PostgresClient } from '../../../adapters/postgres/client.js'

export interface Statement {
  readonly text: string
  readonly values: readonly unknown[]
}

/** Passes everything on and keeps what was sent. */
export function recordingClient(client: PostgresClient): {
  readonly client: PostgresClient
  readonly sent: Statement[]
} {
  const sent: Statement[] = []
  return {
    sent,
    client: {
      query(text, values) {
        sent.push({ text, values: values ?? [] })
        return client.query(text, values)
      },
    },
  }
}
