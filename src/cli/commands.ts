import type { CommandEntry } from './frame/command.js'

/** In the order of `postern help`. */
export const commands: readonly CommandEntry[] = [
  {
    name: 'init',
    summary: 'writes a host into an empty folder',
    load: async () => (await import('./init/init-command.js')).initCommand,
  },
  {
    name: 'migrate',
    summary: 'shows what the database lacks, and brings it up to this version',
    load: async () => (await import('./migrate/migrate-command.js')).migrateCommand,
  },
  {
    name: 'doctor',
    summary: 'looks for what to fix in options, database and machine',
    load: async () => (await import('./doctor/doctor-command.js')).doctorCommand,
  },
  {
    name: 'create-operator',
    summary: 'makes an operator, and a link to choose the password by',
    load: async () =>
      (await import('./operators/create-operator-command.js')).createOperatorCommand,
  },
  {
    name: 'reset-factors',
    summary: 'removes the second factors of a person who lost them',
    load: async () => (await import('./operators/reset-factors-command.js')).resetFactorsCommand,
  },
  {
    name: 'settings',
    summary: 'reads and changes the settings that are stored',
    load: async () => (await import('./settings/settings-command.js')).settingsCommand,
  },
  {
    name: 'import',
    summary: "makes accounts of another product's users",
    load: async () => (await import('./import/import-command.js')).importCommand,
  },
  {
    name: 'openapi',
    summary: 'writes the OpenAPI document of the routes',
    load: async () => (await import('./openapi/openapi-command.js')).openapiCommand,
  },
  {
    name: 'keys',
    summary: 'makes, rotates and shows the keys of a file',
    load: async () => (await import('./keys/keys-command.js')).keysCommand,
  },
]
