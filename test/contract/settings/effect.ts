import type { Surface } from '../../../src/ports/surface.js'
import type { SettingKey } from '../../../src/settings/settings.js'
import type { HostOptions } from '../../support/hosts/hosts.js'
import type { Change, SettingsHost } from './settings-host.js'

/** What a setting does, seen from outside. */
export interface Effect {
  /** What the host is started with. */
  readonly options?: HostOptions
  /**
   * Two or more ways the setting may be set, each with what is seen then. A text is the setting's
   * own; the outcomes differ from one to the next.
   */
  readonly when: readonly (readonly [change: string | Change, outcome: string])[]
  /** Looks at the routes of one surface, with people of its own; may be repeated. */
  see(host: SettingsHost, surface: Surface): Promise<string>
}

export type Effects = Readonly<Partial<Record<SettingKey, Effect>>>
