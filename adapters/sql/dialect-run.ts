import { NotMigratedError } from '../shared/not-migrated-error.js'
import type { SqlDialect } from './dialect.js'
import type { SqlRun } from './sql-run.js'

// Where many replicas race for one row, all but one of them may be rolled back in each round.
const mostTries = 100

/** Puts the dialect's placeholders into texts and sends again what the server rolled back. */
export function dialectRun(run: SqlRun, dialect: SqlDialect): SqlRun {
  return async (text, values) => {
    const own = withPlaceholders(text, dialect)
    for (let tries = 1; ; tries++) {
      try {
        return await run(own, values)
      } catch (error) {
        const failure = dialect.failure(error)
        if (failure === 'missing') {
          throw new NotMigratedError(`${dialect.name}: a table or column is missing`, error)
        }
        if (failure !== 'undone' || tries === mostTries) throw error
      }
    }
  }
}

function withPlaceholders(text: string, { placeholder }: SqlDialect): string {
  if (placeholder === undefined) return text
  let position = 0
  return text.replaceAll('?', () => {
    position += 1
    return placeholder(position)
  })
}
