import { Module } from '@nestjs/common';
import { DoctorController } from './doctor.controller.js';
import { Doctor } from './doctor.js';

/** What is wrong with the installation. */
@Module({ controllers: [DoctorController], providers: [Doctor] })
export class DoctorModule {}
