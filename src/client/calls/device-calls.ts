// Made by `npm run generate` from the operation table.

import type { Call } from './call.js'

/** Operations of both surfaces, by method and path. */
export interface DeviceCalls {
  /** Let this device skip the second factor; its token comes as a cookie, or with the header x-token-delivery: body in the body. */
  readonly 'POST /devices': Call<
    { readonly name?: string },
    {
      readonly deviceId: string
      readonly name: string
      readonly expiresAt: string
      readonly deviceToken?: string
    }
  >
  /** The devices that skip your second factor, newest first. */
  readonly 'GET /devices': Call<
    Readonly<Record<string, never>>,
    {
      readonly items: readonly {
        readonly deviceId: string
        readonly name: string
        readonly expiresAt: string
        readonly createdAt: string
        readonly lastUsedAt: string | null
        readonly current: boolean
      }[]
    }
  >
  /** Trust a device no more; its next login asks for the second factor. */
  readonly 'DELETE /devices/{deviceId}': Call<{ readonly deviceId: string }, null>
}
