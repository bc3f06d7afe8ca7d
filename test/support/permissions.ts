import { readFileSync } from 'node:fs'

const schema = JSON.parse(readFileSync(new URL('../../model.schema.json', import.meta.url), 'utf8'))

/** Every permission, as the schema of models has them: everything, whole kinds, and what is done to each kind. */
export const PERMISSIONS: readonly string[] = schema.properties.identities.items.properties.permissions.items.enum
