import { terminators } from '../../resources/routers/terminators.ts'
import { services } from '../../resources/services/services.ts'
import { serviceList } from '../management/services/services.ts'
import { crud } from '../operations/crud.ts'

export { terminatorsOfService as terminatorsOfFabricService } from '../management/services/terminators.ts'

const { list, get } = crud(terminators)

/** Services and terminators as the management API shows them. */
export const fabricServices = { list: serviceList, get: crud(services).get } as const
export const FABRIC_TERMINATORS = { list, get } as const
