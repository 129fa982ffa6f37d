import type { TestProject } from 'vitest/node'

/** In place of the search for servers: whatever wants a database is skipped by name. */
export default function setup(project: TestProject): void {
  project.provide('postgresUrl', null)
  project.provide('postgresInstalled', false)
  project.provide('mongo', null)
  project.provide('redisUrl', null)
  project.provide('redisInstalled', false)
}
