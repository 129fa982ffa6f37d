import type { ConfigRevision } from '../domain/configuration/config-writer.js'

export function configRevisionView(revision: ConfigRevision) {
  return { ...revision, writtenAt: new Date(revision.writtenAt).toISOString() }
}
