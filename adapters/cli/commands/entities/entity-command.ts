import { type Command, defineCommand } from '../../command-line/command.ts'
import { CONNECTION_OPTIONS } from '../../connection/connect.ts'
import { fieldOptions } from './entity-fields.ts'
import { getEntity, listEntities } from './read-entities.ts'
import { createEntity, deleteEntities, patchEntity } from './write-entities.ts'

/** The actions on the entities of a collection. */
export type EntityVerb = 'list' | 'get' | 'create' | 'patch' | 'delete'

const LIST_OPTIONS = {
  filter: { value: 'CONDITION', summary: 'such as \'name contains "web"\' or \'anyOf(roleAttributes) = "staff"\'' },
  sort: { value: 'FIELDS', summary: "such as 'name desc'" },
  limit: { value: 'COUNT', summary: 'how many at most; default: all' },
  offset: { value: 'COUNT', summary: 'how many to leave out from the beginning' },
} as const

const BODY_OPTION = {
  body: {
    value: 'JSON|@FILE|-',
    summary: 'all of it as JSON, from a file, or from standard input; other options add to it',
  },
} as const

const BODY_DETAILS = `Lists take one value for each time that the option is given, or values with commas between; objects are JSON. Role lists
take #attribute, #all, and @name or @id. Secrets have no option of their own: --body - or --body @FILE keeps them off the
command line.`

/** The command that does something with the entities of a collection. */
export function entityCommand(collection: string, verb: EntityVerb): Command {
  const common = { hasJson: true, exitCodes: { 0: 'done' } } as const
  switch (verb) {
    case 'list':
      return defineCommand({
        ...common,
        options: { ...CONNECTION_OPTIONS, ...LIST_OPTIONS },
        examples: [`portcullis ${collection} list --filter 'name contains "web"' --json`],
        run: (call) => listEntities(collection, call),
      })
    case 'get':
      return defineCommand({
        ...common,
        operands: 'NAME|ID',
        options: CONNECTION_OPTIONS,
        run: (call) => getEntity(collection, call),
      })
    case 'create':
      return defineCommand({
        ...common,
        options: { ...CONNECTION_OPTIONS, ...BODY_OPTION, ...fieldOptions(collection, verb) },
        details: BODY_DETAILS,
        run: (call) => createEntity(collection, call),
      })
    case 'patch':
      return defineCommand({
        ...common,
        operands: 'NAME|ID',
        options: { ...CONNECTION_OPTIONS, ...BODY_OPTION, ...fieldOptions(collection, verb) },
        details: BODY_DETAILS,
        run: (call) => patchEntity(collection, call),
      })
    case 'delete':
      return defineCommand({
        ...common,
        operands: 'NAME|ID...',
        options: CONNECTION_OPTIONS,
        run: (call) => deleteEntities(collection, call),
      })
  }
}
