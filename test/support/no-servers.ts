import { rmSync } from 'node:fs'
import type { TestProject } from 'vitest/node'
import { exercisedFile } from './hosts/exercised-file.js'

/** The set-up of the fast shelf, which needs no server: suites that want one are on another shelf. */
export default function setup(project: TestProject): void {
  rmSync(exercisedFile, { force: true })
  project.provide('postgresUrl', null)
  project.provide('postgresInstalled', false)
  project.provide('mongo', null)
  project.provide('mariadbUrl', null)
  project.provide('redisUrl', null)
  project.provide('redisInstalled', false)
}
