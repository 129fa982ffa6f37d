import type { Db, Document } from 'mongodb'
import type { Inspection } from '../../src/ports/inspection.js'

/** The server's clock. What collections lack is a step of the plan, which looks at the indexes themselves. */
export async function inspect(db: Db): Promise<Inspection> {
  const { localTime } = await greeting(db)
  return {
    name: 'mongo',
    now: localTime instanceof Date ? localTime.getTime() : null,
    problems: [],
  }
}

/** Servers before 4.4.2 know the command by its older name. */
async function greeting(db: Db): Promise<Document> {
  try {
    return await db.command({ hello: 1 })
  } catch (error) {
    const isUnknown = error instanceof Error && 'code' in error && error.code === 59
    if (!isUnknown) throw error
    return db.command({ isMaster: 1 })
  }
}
