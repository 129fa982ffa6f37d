import type { PlantEntry } from './plant.js'

const declarations = 'src/engine/configuration/module-declaration.ts'
const changes = 'src/domain/configuration/config-changes.ts'
const processes = 'src/engine/configuration/running-processes.ts'
const needsRestart = 'test/domain/configuration/needs-restart.test.ts'

export const configPlants: readonly PlantEntry[] = [
  {
    name: 'a validator may quote a secret at an activation',
    file: changes,
    find: 'run, declared.secretsIn(values), config',
    replace: 'run, [], config',
    tests: ['test/contract/config/validators.test.ts'],
  },
  {
    name: 'the condition of a sub-field names a sub-field of any list',
    edits: [
      {
        file: declarations,
        find: ']`)),',
        replace: ']`, given.flatMap((one) => one.items ?? []))),',
      },
      {
        file: declarations,
        find: 'function fieldProblems(given: unknown, place: string)',
        replace: 'function fieldProblems(given: unknown, place: string, every: unknown[])',
      },
      {
        file: declarations,
        find: 'itemProblems(item, items)',
        replace: 'itemProblems(item, every)',
      },
    ],
    tests: ['test/engine/configuration/check-declarations.test.ts'],
  },
  {
    name: 'an error of a validator may quote the secret that an edit replaces',
    file: changes,
    find: 'const secrets = [before, values].flatMap(',
    replace: 'const secrets = [values].flatMap(',
    tests: ['test/contract/config/validators.test.ts'],
  },
  {
    name: 'the history keeps the texts of secrets',
    file: 'src/domain/configuration/config-writer.ts',
    find: '...module.redact(seen.values),',
    replace: '...module.redact(seen.values), values: seen.values,',
    tests: ['test/contract/config/secrets-and-history.test.ts'],
  },
  {
    name: 'a switch to the environment that is active needs no restart',
    file: changes,
    find: 'activations: seen.activations + 1, processes',
    replace:
      'activations: seen.activations + (environment === seen.activeEnvironment ? 0 : 1), processes',
    tests: [needsRestart],
  },
  {
    name: 'the first process that starts after a switch clears needsRestart',
    file: processes,
    find: '{ ...running(processes, now), [id]: { activations, seenAt: now } }',
    replace: '{ [id]: { activations, seenAt: now } }',
    tests: [needsRestart],
  },
  {
    name: 'a process that crashed counts for ever',
    file: processes,
    find: 'now - seenAt < goneAfterMs',
    replace: 'seenAt <= now',
    tests: [needsRestart],
  },
  {
    name: 'a process that checks in forgets that it began before the switch',
    file: 'src/domain/configuration/config-registration.ts',
    find: 'joined.get(module) ?? activations',
    replace: 'activations',
    tests: [needsRestart],
  },
  {
    name: 'two processes that say at once that they run overwrite each other',
    file: 'src/domain/configuration/config-registration.ts',
    find: 'modules.update(module, { revision }, set)',
    replace: 'modules.update(module, { activeEnvironment: seen.activeEnvironment }, set)',
    tests: [needsRestart],
  },
  {
    name: 'an edit that holds nothing writes a revision',
    file: changes,
    find: 'if (plan.changed.length + plan.removed.length === 0)',
    replace: 'if (plan.changed.length + plan.removed.length < 0)',
    tests: ['test/contract/config/empty-edits.test.ts'],
  },
  {
    name: 'a first value that its field cannot hold is stored',
    file: 'src/engine/configuration/module-values.ts',
    find: 'return found === null ? []',
    replace: 'return found !== undefined ? []',
    tests: ['test/contract/config/first-values.test.ts'],
  },
  {
    name: 'a webhook at a private address may be a first value',
    file: 'src/settings/initial-values.ts',
    find: 'firstValues: true, isPublicAddress }',
    replace: 'firstValues: true, isPublicAddress: () => true }',
    tests: ['test/settings/initial-values.test.ts'],
  },
  {
    name: 'names in another script share one slug',
    file: 'src/engine/configuration/config-keys.ts',
    find: 'const mark = hashOf(folded.trim())',
    replace: "const mark = hashOf('')",
    tests: ['test/engine/configuration/slug.test.ts'],
  },
  {
    name: 'an edit does not ask whether an activation has marked its values',
    file: 'src/domain/configuration/config-writer.ts',
    find: 'const { revision, activation } = seen\n    return await environments.update(seen.id, { revision, activation }, set)',
    replace: 'return await environments.update(seen.id, { revision: seen.revision }, set)',
    tests: ['test/contract/config/judged-activation.test.ts'],
  },
  {
    name: 'decrypted settings stay in memory until they are read again',
    file: 'src/domain/configuration/config-store.ts',
    find: '      else forget()',
    replace: '',
    tests: ['test/domain/configuration/config-cache.test.ts'],
  },
]
