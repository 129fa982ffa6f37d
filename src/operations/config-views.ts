import type { ConfigRevision } from '../domain/services/index.js'

export function configRevisionView(revision: ConfigRevision) {
  return { ...revision, writtenAt: new Date(revision.writtenAt).toISOString() }
}
