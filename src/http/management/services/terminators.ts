import { equals } from '../../../domain/filter/index.ts'
import { terminators } from '../../../resources/routers/terminators.ts'
import { defineOperation } from '../../operations/define-operation.ts'
import { wireSchema } from '../../operations/wire-schema.ts'

export const terminatorsOfService = defineOperation(
  {
    route: 'GET /services/{id}/terminators',
    summary: 'Lists the terminators of one service',
    access: { entity: 'terminator', action: 'read' },
    data: wireSchema(terminators),
    symbols: terminators.symbols,
  },
  async ({ engine, call, params, find }) => {
    await engine.reader.serviceAbove(params.id)
    return { page: await engine.reader.list(call, terminators, find, async () => equals('serviceId', params.id)) }
  },
)
